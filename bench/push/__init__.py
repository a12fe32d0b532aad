"""Measures how soon the webhooks of mail providers answer while syncs run."""
