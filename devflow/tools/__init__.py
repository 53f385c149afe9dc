"""What the model may do: each tool a module, one policy for all, and files only inside the workspace."""
