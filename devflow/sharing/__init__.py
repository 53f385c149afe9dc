"""Conversations as files for others: what of one is told, as Markdown and as HTML."""
