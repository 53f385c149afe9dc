"""How much of a file is read at all."""

from __future__ import annotations

BYTES_MAX = 50_000_000
"""Of the file itself."""
UNPACKED_MAX = 200_000_000
"""Bytes of everything inside a DOCX together; more is a bomb, or no document."""
PARTS_MAX = 5_000
"""Files inside a DOCX."""
PAGES_MAX = 2_000
"""Of a PDF."""
TEXT_MAX = 4_000_000
"""Characters of text, whatever the format."""
SECONDS_MAX = 60.0
"""For reading one file."""
MEMORY_MAX = 2_000_000_000
"""Bytes that reading may take where the system can hold a process to it."""
