"""`penstock inlet`."""
