"""The HTTP API: upload and search documents; every error says what to do."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.api.app import create_app
    from penstock.api.connection_limits import ConnectionLimits
    from penstock.api.serving import HttpServer, from_environment, listen, server

__all__ = ["ConnectionLimits", "HttpServer", "create_app", "from_environment", "listen", "server"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "app": ["create_app"],
        "connection_limits": ["ConnectionLimits"],
        "serving": ["HttpServer", "from_environment", "listen", "server"],
    },
)
