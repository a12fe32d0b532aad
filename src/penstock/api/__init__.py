"""The HTTP API: documents in, answers out, problems with remedies."""

from penstock.api.app import create_app
from penstock.api.serving import Server, from_environment, listen, server

__all__ = ["Server", "create_app", "from_environment", "listen", "server"]
