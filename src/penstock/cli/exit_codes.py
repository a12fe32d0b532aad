"""The exit codes of every command."""

from enum import IntEnum


class Exit(IntEnum):
    OK = 0
    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3
    UNHEALTHY = 4
    BUG = 70
    STALLED = 75
    INTERRUPTED = 130


EPILOG = """\b
Exit codes:
  0    success
  1    rejected or not found; the line on stderr says what to do
  2    wrong option or argument
  3    the database cannot be reached or is not migrated
  4    doctor found a problem
  70   a bug in Penstock; --debug shows where
  75   a worker's event loop was blocked for PENSTOCK_STALL_SECONDS; restart the worker
  130  interrupted
\b
Every command takes --json: one JSON document on stdout, an error as one on stderr.
Without PENSTOCK_DATABASE_URL, Penstock runs its own Postgres in .penstock/.
"""
