"""The documents and their search for AI assistants, by the Model Context Protocol: over HTTP and over stdio."""

from penstock.mcp.http import http_app
from penstock.mcp.server import create_server, serve_stdio

__all__ = ["create_server", "http_app", "serve_stdio"]
