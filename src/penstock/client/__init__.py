"""A typed client of the HTTP API."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.client.blocking import BlockingClient
    from penstock.client.client import Client
    from penstock.client.problem import ApiProblem

__all__ = ["ApiProblem", "BlockingClient", "Client"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "blocking": ["BlockingClient"],
        "client": ["Client"],
        "problem": ["ApiProblem"],
    },
)
