"""Embeds texts with local or remote models."""
