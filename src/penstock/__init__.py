"""Penstock: documents from wherever a company keeps them, through one durable Postgres queue."""

from penstock.app import Penstock
from penstock.errors import LeaseLost, PenstockError
from penstock.model import Cancel, Exponential, NoRetry, Snooze, Table
from penstock.settings import Settings
from penstock.worker import Context

__version__ = "0.1.0"

__all__ = [
    "Cancel",
    "Context",
    "Exponential",
    "LeaseLost",
    "NoRetry",
    "Penstock",
    "PenstockError",
    "Settings",
    "Snooze",
    "Table",
    "__version__",
]
