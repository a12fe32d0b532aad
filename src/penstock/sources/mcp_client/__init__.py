"""Calls tools of MCP servers over streamable HTTP and tells their failures apart."""
