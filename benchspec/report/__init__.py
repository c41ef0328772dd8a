"""The report: one self-contained HTML file and the same as PDF.

`view` puts every word and number in place (pure), `charts` draws, `html` and `pdf` render.
"""
