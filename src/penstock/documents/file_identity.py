"""A file's external id: its absolute path, or its path in a named folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PREFIX = "file:"
LONGEST_EXTERNAL_ID = 512
"""Maximum characters of an external id."""


def identity_of(path: Path, root: Path | None = None, root_name: str | None = None) -> str:
    """The external id of a file; links are resolved unless the folder has a name."""
    if root is not None and root_name is not None:
        return _short(f"{PREFIX}{root_name}/{_text(os.path.relpath(path, root))}")
    return _short(PREFIX + shown_path(path))


def prefix_of(root: Path, root_name: str | None = None) -> str:
    """What the external ids of all files in a folder begin with."""
    if root_name is not None:
        return f"{PREFIX}{root_name}/"
    return PREFIX + shown_path(root).rstrip("/") + "/"


def shown_path(path: Path) -> str:
    """The absolute path with links resolved, as text a database can store."""
    return _text(os.path.realpath(path))


def _text(path: str) -> str:
    # A file name is bytes and may not be valid UTF-8.
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _short(identity: str) -> str:
    if len(identity) <= LONGEST_EXTERNAL_ID:
        return identity
    digest = hashlib.sha256(identity.encode()).hexdigest()
    return f"{identity[: LONGEST_EXTERNAL_ID - len(digest) - 1]}#{digest}"
