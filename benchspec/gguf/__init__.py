"""GGUF model files: the header, and what is read of them for one token."""
