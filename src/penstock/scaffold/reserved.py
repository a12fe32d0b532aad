"""Names a schema of a process cannot have."""

from __future__ import annotations

from typing import Final

HOUSE_SCHEMAS: Final = frozenset(
    {"queues", "internal", "keeping", "vault", "api", "public", "information_schema"}
    # folders beside those of the schemas
    | {"security", "migrations"}
)

# What PostgreSQL calls reserved, also where it may name a function or a type.
_RESERVED: Final = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
collation column concurrently constraint create cross current_catalog current_date current_role
current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into
is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on
only or order outer overlaps placing primary references returning right select session_user similar some
symmetric system_user table tablesample then to trailing true union unique user using variadic verbose
when where window with
"""
RESERVED_WORDS: Final = frozenset(_RESERVED.split())
