"""Signed webhooks: signing, verification and delivery."""
