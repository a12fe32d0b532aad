"""Gmail: threads."""
