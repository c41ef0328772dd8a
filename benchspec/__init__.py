"""benchspec: a claim about LLM inference speed, as a test that can fail."""

__version__ = "0.1.0"
