"""The records behind the simulated providers."""
