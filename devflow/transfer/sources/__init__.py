"""One module a format: a file's text to pieces, each a possible candidate, or to conversations."""
