"""DevFlow for other tools: its library and its knowledge bases over the Model Context Protocol (spec 06)."""
