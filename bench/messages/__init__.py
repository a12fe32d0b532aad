"""Measures supervised messages beside a bare loop that sends them."""
