"""Finding entries and pages, and saying why. One core of terms and ranking serves both."""
