"""Names that a schema of the user's own cannot have: Penstock or Postgres has them, or may need them."""

from __future__ import annotations

from typing import Final

PENSTOCK_SCHEMAS: Final = frozenset(
    {"accounts", "all_tenants", "api", "comms", "files", "ingest", "internal", "queues", "search", "vault"}
)
"""What this release has. A test holds it to the migrations."""

KEPT_FOR_LATER: Final = frozenset(
    {
        "blobs",
        "console",
        "documents",
        "embed",
        "index",
        "inlets",
        "maintenance",
        "mcp",
        "messages",
        "operator",
    }
    | {"pipeline", "processes", "sandbox", "sources", "tenants", "usage", "webhooks", "worker"}
)
"""A later release may create these, or any that starts with `penstock`, and no other."""

OTHERS: Final = frozenset(
    {"public", "information_schema", "security", "migrations", "rows", "triggers", "grants"}
)
"""Folders beside those of the schemas, and what every database has."""

# What PostgreSQL calls reserved, also where it may name a function or a type.
_WORDS: Final = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
collation column concurrently constraint create cross current_catalog current_date current_role
current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into
is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on
only or order outer overlaps placing primary references returning right select session_user similar some
symmetric system_user table tablesample then to trailing true union unique user using variadic verbose
when where window with
"""
RESERVED_WORDS: Final = frozenset(_WORDS.split())


def is_penstock_schema(schema: str) -> bool:
    """Whether this release or a later one may have it."""
    return schema in PENSTOCK_SCHEMAS | KEPT_FOR_LATER or schema.startswith("penstock")


def why_not(schema: str) -> str | None:
    """Why a user's own schema cannot be called so; None when it can."""
    if is_penstock_schema(schema):
        return f"the schema {schema} is Penstock's own"
    if schema in OTHERS or schema.startswith("pg_"):
        return f"{schema} cannot be a schema of your own"
    if schema in RESERVED_WORDS:
        return f"{schema} is a reserved word of SQL"
    return None
