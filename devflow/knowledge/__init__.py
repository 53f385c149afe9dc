"""The library's service: every act on entries, each one transaction with its timeline events."""
