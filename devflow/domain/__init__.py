"""Frozen values and pure rules; standard library only. Every other room imports from here, never the reverse."""
