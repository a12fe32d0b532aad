"""Document intake from any origin, and document management."""
