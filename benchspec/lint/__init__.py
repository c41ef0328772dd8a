"""The linter: refuses a spec that cannot answer its own question."""
