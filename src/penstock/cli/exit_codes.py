"""What the exit codes of every command mean."""

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
  0    done
  1    refused or not found; the line on stderr says what to do
  2    wrong usage
  3    the database cannot be reached or is not migrated
  4    doctor found a problem
  70   a fault in the program; --debug shows where
  75   a worker's event loop was blocked for PENSTOCK_STALL_SECONDS; start it again
  130  interrupted
\b
Every command takes --json: one document on stdout, errors as one on stderr.
Without PENSTOCK_DATABASE_URL Penstock uses its own Postgres under .penstock/.
"""
