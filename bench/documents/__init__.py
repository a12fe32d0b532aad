"""Measures documents on their way in, beside the bare work and a peer."""
