"""One file per format; each turns lint results into text."""
