"""Clients: what sources state about them, and which rows of several sources are one client."""
