"""What the readers of connected providers have in common."""
