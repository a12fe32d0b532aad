"""The program `penstock`: which commands there are; only the one that is called is loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.cli import version
from penstock.cli.exit_codes import EPILOG, Exit
from penstock.cli.failures import WrongUsage, show, show_usage, warn_of_misspelt
from penstock.cli.parent import end_with_parent, tell_parent

GROUPS = {
    "Start here": {
        "demo": "See documents become searchable and a killed worker lose nothing.",
        "up": "Start everything: Postgres, the API and a worker.",
    },
    "Documents": {
        "ingest": "Take files and folders in and watch them become searchable.",
        "search": "Find passages by meaning and by words.",
        "document": "Look at documents, get, retry, re-index or delete them.",
        "explain": "Say where a document or a task is, why, and what to do about it.",
        "model": "List, install and switch embedding models.",
        "mcp": "Serve a tenant's documents to an AI assistant over stdio.",
    },
    "Accounts": {
        "tenant": "Make and list tenants, their limits and their API keys.",
        "project": "Make and list projects, change, delete and re-index them.",
        "source": "List a tenant's sources, make its webhook, pause and remove them.",
    },
    "Messages and processes": {
        "message": "Send emails and text messages.",
        "process": "Look at supervised processes, start one again that failed.",
    },
    "Queue": {
        "queue": "Look at queues, pause them, limit them.",
        "task": "Look at tasks, cancel them, run them now.",
        "dead": "Look at dead letters, replay or purge them.",
        "schedule": "Look at the cron schedules, run one now.",
    },
    "Operate": {
        "api": "Serve the HTTP API.",
        "worker": "Work on documents, or run the tasks of an app.",
        "migrate": "Bring the database to the schema of this version.",
        "backup": "Back up the database, the originals and the vault's key.",
        "restore": "Restore what penstock backup wrote.",
        "db": "The database itself: its address, psql, backup, restore, stop.",
        "doctor": "Check the database, its roles, workers and queues.",
        "version": "Print the version.",
    },
    "Development": {
        "new": "Write a new supervised process.",
        "bench": "Measure enqueue and drain on this database.",
    },
}
"""Every command with its line in `penstock --help`, under the headings of that page."""

COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}

SHARED = ("new", "model")
"""Commands that write for others to read (a project's files, a cache) and nothing in the data directory."""

_WIDEST = max(map(len, COMMANDS))
"""One column of names over all headings."""

Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug logs.")]
EndsWithParent = Annotated[bool, typer.Option("--ends-with-parent", hidden=True)]
AliveFd = Annotated[int | None, typer.Option("--alive-fd", hidden=True)]


class _Program(TyperGroup):
    """Lists the commands under their headings; Typer does so only in the boxes of rich, slowly."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(_WIDEST), line) for name, line in commands.items()])


def build(words: Sequence[str]) -> typer.Typer:
    """The program with those commands loaded that `words` may call; of the others only name and line."""
    program = typer.Typer(
        name="penstock",
        cls=_Program,
        help="Penstock: documents through one durable Postgres queue into a searchable index.",
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    program.callback()(_options)
    # The names of the others are for "Did you mean"; after a command that exists nobody asks.
    known = next((word for word in words if not word.startswith("-")), None) in COMMANDS
    for name, line in COMMANDS.items():
        if name not in words:
            if not known:
                program.command(name, help=line)(_not_loaded)
            continue
        module = import_module(f"penstock.cli.{name}")
        if hasattr(module, "group"):
            program.add_typer(module.group, name=name, help=line)
        else:
            program.command(name, short_help=line)(module.command)
    return program


def run_program() -> int:
    """Run it on the process's arguments; whatever goes wrong ends as one line and an exit code."""
    words = sys.argv[1:]
    ours = words[: words.index("--")] if "--" in words else words
    as_json = "--json" in ours
    debug = "--debug" in ours or os.environ.get("PENSTOCK_LOG_LEVEL", "").lower() == "debug"
    completing = "_PENSTOCK_COMPLETE" in os.environ
    if words in (["version"], ["version", "--json"], ["--version"]):
        version.command(as_json=as_json)  # Typer takes longer to read a flag than all the rest
        return Exit.OK
    if not ours or ours[0] not in SHARED:
        os.umask(0o077)  # what goes into the data directory is nobody else's
    try:
        program = build(tuple(COMMANDS) if completing else ours)
        code = program(words, prog_name="penstock", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return Exit.OK
    except WrongUsage as error:
        return show_usage(error, as_json=as_json)
    except Exception as error:
        if debug:
            raise
        return show(error, as_json=as_json)
    return code if isinstance(code, int) else Exit.OK


def _options(
    debug: Debug = False, ends_with_parent: EndsWithParent = False, alive_fd: AliveFd = None
) -> None:
    if debug:
        os.environ["PENSTOCK_LOG_LEVEL"] = "debug"
    if ends_with_parent:
        end_with_parent()
    else:  # or our parent has said it already
        warn_of_misspelt(as_json="--json" in sys.argv)
    if alive_fd is not None:
        tell_parent(alive_fd)


def _not_loaded() -> None:
    raise AssertionError("a command that is called is loaded")


def _forget_stdout() -> None:
    """The reader has gone; Python must not fail when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
