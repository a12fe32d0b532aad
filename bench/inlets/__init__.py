"""Measures how fast inlets move messages into the queue."""
