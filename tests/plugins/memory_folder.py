"""Puts what a run writes into memory where there is room: a clone of a database takes a tenth of the time."""

from __future__ import annotations

import os
import tempfile

from penstock.testing.memory_folder import MEMORY, fits_into_memory

NEEDED_BYTES = 6 * 1024**3
"""Databases, write-ahead log and files of a run stay well below half of it; the tests need memory too."""


def use_memory() -> None:
    """Make it the folder for temporary files, unless TMPDIR names one."""
    if "TMPDIR" not in os.environ and fits_into_memory(NEEDED_BYTES):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # asked for before, it would stay what it was
