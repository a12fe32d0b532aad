"""Builds a message from command-line options and the files they name."""

from __future__ import annotations

import mimetypes
import sys
from datetime import UTC, datetime
from pathlib import Path

import typer

from penstock.errors import InvalidArgument
from penstock.model import Attachment


def body_of(text: str | None, file: Path | None) -> str | None:
    if text is not None and file is not None:
        raise InvalidArgument(
            "--text and --text-file cannot be used together", "text_file", "Use one of them"
        )
    return text if file is None else text_of(file, "text_file")


def text_of(path: Path, field: str) -> str:
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _unread(path, error, field) from error


def attached(path: Path) -> Attachment:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unread(path, error, "attach") from error
    return Attachment(path.name, content, mimetypes.guess_type(path.name)[0])


def _unread(path: Path, error: OSError | UnicodeDecodeError, field: str) -> InvalidArgument:
    if isinstance(error, OSError):
        return InvalidArgument(f"{path}: {error.strerror or error}", field, "Name a file you can read")
    return InvalidArgument(f"{path} is not UTF-8 text", field, "Save it as UTF-8")


def time_of(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a time", param_hint="--at") from None
    return given if given.tzinfo is not None else given.replace(tzinfo=UTC)
