"""The library as files, and what others keep in files as candidates: export and import (spec 06)."""
