"""Measures Penstock beside its peers on one Postgres server, in one run."""
