"""A water mill that closes its gates and announces it."""
