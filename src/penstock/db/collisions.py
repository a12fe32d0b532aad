"""Recognises an error that a concurrent migration on the same server caused; a second try succeeds."""

from __future__ import annotations

import asyncpg


def collided(error: asyncpg.PostgresError) -> bool:
    """Whether a migration of another database on this server touched the same shared row."""
    if isinstance(error, asyncpg.InternalServerError):
        return "concurrently" in str(error)
    return isinstance(error, asyncpg.DeadlockDetectedError | asyncpg.SerializationError)
