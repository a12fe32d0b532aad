"""Tells the driver what the arrays of built-in types look like, which it would ask the server for.

The driver asks once per connection and array type, with a recursive query over the catalogue that takes 4 ms
of the server's time: more than a worker's first claim.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.db.types import Connection

ARRAYS: Final[dict[str, tuple[int, int]]] = {
    "bool": (1000, 16),
    "bytea": (1001, 17),
    "name": (1003, 19),
    "int2": (1005, 21),
    "int4": (1007, 23),
    "varchar": (1015, 1043),
    "int8": (1016, 20),
    "float4": (1021, 700),
    "float8": (1022, 701),
    "timestamp": (1115, 1114),
    "date": (1182, 1082),
    "timestamptz": (1185, 1184),
    "interval": (1187, 1186),
    "numeric": (1231, 1700),
    "uuid": (2951, 2950),
    "jsonb": (3807, 3802),
}
"""The oid of each type's array and its own; Postgres never changes those of built-in types."""


def _described(name: str, array: int, element: int) -> dict[str, Any]:
    """The row that the driver would have read."""
    return {
        "oid": array,
        "ns": "pg_catalog",
        "name": f"_{name}",
        "kind": b"b",
        "basetype": None,
        "elemtype": element,
        "elemdelim": b",",
        "range_subtype": None,
        "attrtypoids": None,
        "attrnames": None,
        "depth": 0,
        "basetype_name": None,
        "elemtype_name": name,
        "range_subtype_name": None,
    }


_TYPES: Final = [_described(name, *oids) for name, oids in ARRAYS.items()]


def register_arrays(connection: Connection) -> None:
    """Register them with a new connection; a driver that has no such call asks the server instead."""
    register = getattr(connection.get_settings(), "register_data_types", None)
    if register is not None:
        register(_TYPES)
