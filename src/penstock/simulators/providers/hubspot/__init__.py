"""The simulated HubSpot."""
