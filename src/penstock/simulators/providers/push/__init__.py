"""Notifications that the simulated providers send: delivery, retries, duplicates, losses and disorder."""
