"""Penstock: one durable Postgres queue that loses no document."""
