"""Database access: the only package that imports the driver."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.db.types import Connection, Pool, Record

__all__ = ["Connection", "Pool", "Record"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "types": ["Connection", "Pool", "Record"],
    },
)
