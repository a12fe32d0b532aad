"""Bindings: how the logical methods of a provider map to tools of an MCP server or calls of a REST API."""
