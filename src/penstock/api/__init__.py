"""The HTTP API: documents in, answers out, problems with remedies."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.api.app import create_app
    from penstock.api.serving import Server, from_environment, listen, server

__all__ = ["Server", "create_app", "from_environment", "listen", "server"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "app": ["create_app"],
        "serving": ["Server", "from_environment", "listen", "server"],
    },
)
