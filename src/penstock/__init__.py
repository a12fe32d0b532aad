"""Penstock brings documents from wherever a company keeps them through one durable queue into an index."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "Cancel": "penstock.model",
    "Context": "penstock.worker",
    "Exponential": "penstock.model",
    "LeaseLost": "penstock.errors",
    "NoRetry": "penstock.model",
    "Penstock": "penstock.app",
    "PenstockError": "penstock.errors",
    "Settings": "penstock.settings",
    "Snooze": "penstock.model",
    "Table": "penstock.model",
}


def __getattr__(name: str) -> object:
    """Load a name when it is first asked for: `penstock --help` needs none, and together they take 0.4 s."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
