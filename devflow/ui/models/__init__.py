"""Qt models over the services: each shows stored rows and reacts to their changes; none keeps copies to edit."""
