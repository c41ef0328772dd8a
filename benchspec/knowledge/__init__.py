"""What is known of engines (settings, command lines, defaults) and of accelerators. Pure data and parsers."""
