"""The library out and in: what an import would do, and that it is done only when the human says so."""
