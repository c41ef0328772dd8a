"""How fast memory and links really are: measured here and now, for `source: measured`."""
