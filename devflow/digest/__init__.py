"""Batch digest: one sub-agent a file reads it and writes about it; the application makes the page."""
