"""Whether an error of Postgres was caused by the messages, as `internal.is_about_data` decides it in SQL."""

from __future__ import annotations

from typing import Final

_OTHERS: Final = frozenset(("08", "25", "28", "40", "42", "53", "55", "57", "58", "F0", "HV", "XX"))
"""Classes of SQLSTATEs: the connection, the transaction, privileges and schema, locks, time, resources."""
CANCELLED: Final = "57014"
"""A time limit of the server or an administrator ended the statement."""


def is_about_data(error: BaseException) -> bool:
    """False if any other messages would have failed as well; an error without a SQLSTATE counts as true."""
    return sqlstate_of(error)[:2] not in _OTHERS


def sqlstate_of(error: BaseException) -> str:
    """The SQLSTATE that the driver's error has; of any other error an empty text."""
    found = getattr(error, "sqlstate", None)
    return found if isinstance(found, str) else ""
