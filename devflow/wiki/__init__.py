"""Knowledge bases on disk: folders of Markdown that the user owns, and the index of their pages."""
