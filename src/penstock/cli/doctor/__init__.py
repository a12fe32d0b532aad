"""`penstock doctor`: the checks, one topic per module."""
