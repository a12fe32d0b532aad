"""The documents and their search for AI assistants: the Model Context Protocol over HTTP and stdio."""

from penstock.mcp.http import http_app
from penstock.mcp.server import create_server, serve_stdio

__all__ = ["create_server", "http_app", "serve_stdio"]
