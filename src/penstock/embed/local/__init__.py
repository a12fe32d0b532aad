"""Embedding models that run on this machine, each in a child process."""
