"""The only maker of a `ModelRequest`: what is looked up, how it is fenced, what fits, and in which order it stands."""
