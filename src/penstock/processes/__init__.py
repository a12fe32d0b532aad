"""Supervised processes: running their attempts, their channels, and messages."""
