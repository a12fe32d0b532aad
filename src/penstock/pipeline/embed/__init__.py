"""Makes vectors of texts, here or elsewhere; one model never mixes with another."""
