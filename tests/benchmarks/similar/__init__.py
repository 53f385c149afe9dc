"""How well similar and contradictory entries are told, on a labelled set of our own."""
