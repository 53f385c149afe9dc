"""Distilling conversations to candidates: when that happens, what the model is asked, what is taken of its answer."""
