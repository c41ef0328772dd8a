"""One file per section of the page, each a pure function from the material to its parts."""
