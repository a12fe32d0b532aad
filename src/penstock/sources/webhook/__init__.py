"""Documents that arrive as signed webhooks."""
