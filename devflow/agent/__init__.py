"""Runs: recorded, then advanced by the one loop; paused, stopped, killed and gone on with, always from rows alone."""
