"""A typed client of the HTTP API."""

from penstock.client.blocking import BlockingClient
from penstock.client.client import Client
from penstock.client.problem import ApiProblem

__all__ = ["ApiProblem", "BlockingClient", "Client"]
