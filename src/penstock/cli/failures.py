"""Shows an error to the user: one line or one JSON document, and an exit code."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass

import typer

from penstock.cli.exit_codes import Exit
from penstock.errors import (
    AppNotFound,
    DatabaseNewer,
    DatabaseUnreachable,
    MigrationChanged,
    NotMigrated,
    PenstockError,
    SchemaOutdated,
    SchemaReplaced,
    ServerStartFailed,
)
from penstock.errors.invalid_field import reworded

WrongUsage: type[Exception] = typer.BadParameter.__bases__[0]
"""Typer's UsageError, which it does not export."""

UNREACHABLE = (
    DatabaseNewer,
    DatabaseUnreachable,
    MigrationChanged,
    NotMigrated,
    SchemaOutdated,
    SchemaReplaced,
    ServerStartFailed,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The keys of an error's JSON document."""

    code: str
    message: str
    field: str | None = None
    remedy: str | None = None

    def line(self) -> str:
        said = f"{self.message} {self.remedy}"
        named = self.field and not re.search(rf"\b{re.escape(self.field)}\b", said)
        head = self.message.rstrip(".") + (f" ({self.field})" if named else "")
        between = "" if head.endswith("\n") else ". "  # a list ends with its last line
        return between.join(part.rstrip(".") for part in (head, self.remedy) if part) + "."


def describe(error: BaseException) -> Shown:
    """The error's code, its message, the argument or setting it is about, and the remedy."""
    if not isinstance(error, PenstockError):
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        return Shown("bug", text, None, "Run the command again as penstock --debug … and report the output")
    field = getattr(error, "field", None) or getattr(error, "variable", None)
    if isinstance(error, AppNotFound):
        field = "app"
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    return Shown(code, error.message, field, error.remedy or None)


def exit_code(error: BaseException) -> Exit:
    if isinstance(error, UNREACHABLE):
        return Exit.UNREACHABLE
    return Exit.REFUSED if isinstance(error, PenstockError) else Exit.BUG


def show(error: BaseException, *, as_json: bool) -> int:
    """Write the error to stderr and return the exit code."""
    _write(describe(error), as_json=as_json)
    return exit_code(error)


def show_usage(error: Exception, *, as_json: bool) -> int:
    """Show a wrong command line; without --json the usage is printed as well."""
    error.message = reworded(getattr(error, "message", ""))  # type: ignore[attr-defined]  # as below
    if not as_json:
        error.show()  # type: ignore[attr-defined]  # of Typer's UsageError
        return Exit.USAGE
    context = getattr(error, "ctx", None)
    parameter = getattr(error, "param", None)
    hint = getattr(error, "param_hint", None)
    _write(
        Shown(
            code="usage",
            message=error.format_message(),  # type: ignore[attr-defined]  # as above
            field=getattr(parameter, "name", None) or (str(hint) if hint else None),
            remedy=f"See {(context.command_path if context else 'penstock')} --help",
        ),
        as_json=True,
    )
    return Exit.USAGE


def warn_of_misspelt(*, as_json: bool) -> None:
    """Warn about variables that look like settings but are not."""
    from penstock.settings import unknown_variables  # imported here: `penstock version` needs no settings

    for name, nearest in unknown_variables().items():
        advice = f"Did you mean {nearest}?" if nearest else "See docs/operate/settings.md for the list."
        shown = Shown("setting_unknown", f"{name} is not a setting and is ignored", name, advice)
        warn(json.dumps({"warning": asdict(shown)}) if as_json else f"warning: {shown.message}. {advice}")


def warn(text: str) -> None:
    """Write a line for people to stderr."""
    print(text, file=sys.stderr, flush=True)


def _write(shown: Shown, *, as_json: bool) -> None:
    warn(json.dumps({"error": asdict(shown)}) if as_json else f"error: {shown.line()}")
