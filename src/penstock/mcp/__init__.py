"""Documents and search for AI assistants: the Model Context Protocol over HTTP and stdio."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.mcp.http import http_app
    from penstock.mcp.server import create_server, serve_stdio

__all__ = ["create_server", "http_app", "serve_stdio"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "http": ["http_app"],
        "server": ["create_server", "serve_stdio"],
    },
)
