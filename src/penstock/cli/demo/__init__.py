"""`penstock demo`: the first thing a newcomer sees."""
