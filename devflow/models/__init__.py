"""The user's model servers: which there are, their keys, and which model does what."""
