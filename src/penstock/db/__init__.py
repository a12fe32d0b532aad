"""The database room: the only place that imports the driver."""

from penstock.db.types import Connection, Pool, Record

__all__ = ["Connection", "Pool", "Record"]
