"""`penstock mcp`: documents for AI assistants."""
