"""The authorisation servers of the simulated providers."""
