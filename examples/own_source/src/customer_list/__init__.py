"""Customers from a CSV file, as a source for Penstock."""
