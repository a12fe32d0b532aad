"""The program `penstock`: its list of commands, of which only the one called is loaded."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.cli import typer_values, version
from penstock.cli.exit_codes import EPILOG, Exit
from penstock.cli.failures import WrongUsage, show, show_usage, warn_of_misspelt
from penstock.cli.run.parent import end_with_parent, tell_parent

GROUPS = {
    "Start here": {
        "demo": "Watch documents become searchable while a worker is killed.",
        "up": "Start everything: Postgres, the API and a worker.",
        "login": "Print a link that signs in to the web console.",
    },
    "Documents": {
        "ingest": "Add files and folders and wait until they are searchable.",
        "search": "Search documents by meaning and by words.",
        "eval": "Measure search by questions whose answers are known.",
        "document": "List, show, download, retry, re-index or delete documents.",
        "client": "List, show, add, edit, join and split clients.",
        "explain": "Explain the state of a document or a task, and what to do.",
        "reindex": "Index all documents of a project again, on workers or on Ray.",
        "export": "Write documents, chunks and events as JSON lines.",
        "model": "List, install and switch embedding models.",
        "mcp": "Give an AI assistant access to a tenant's documents over stdio.",
    },
    "Accounts": {
        "tenant": "Manage tenants, their limits and their API keys.",
        "key": "Create, list and revoke keys of the whole installation.",
        "project": "Create, list, change, re-index or delete projects.",
        "source": "Add, connect, sync, list, pause or remove sources of documents.",
    },
    "Messages and processes": {
        "message": "Send emails and text messages.",
        "process": "List and inspect supervised processes, and restart failed ones.",
    },
    "Queue": {
        "top": "Watch stages, queues and workers.",
        "queue": "Show queues, pause them, limit their rate.",
        "task": "Show tasks, cancel them, run them now.",
        "dead": "Show dead letters, replay or purge them.",
        "schedule": "Show cron schedules, run one now.",
        "inlet": "Read the queues of other systems: pgmq, SQS, BullMQ.",
        "operation": "List, show and cancel operations on many items.",
    },
    "Operate": {
        "api": "Serve the HTTP API.",
        "worker": "Process documents, or run the tasks of your app.",
        "migrate": "Upgrade the database schema to this version.",
        "backup": "Back up the database, the original files and the vault key.",
        "restore": "Restore a backup made by penstock backup.",
        "db": "Manage the database: address, status, psql, dump, restore, stop.",
        "vault": "Show the vault's keys, rotate them, forget old ones.",
        "index": "Show where vectors are, move them to the current layout.",
        "doctor": "Check the database, roles, workers, queues and services.",
        "version": "Print the version.",
    },
    "Development": {
        "simulate": "Run simulated HubSpot, Google Drive, QuickBooks and Gmail.",
        "new": "Generate the files of a new supervised process.",
        "bench": "Measure how fast this machine enqueues and runs tasks.",
    },
}
"""Every command with its line in `penstock --help`, under the headings of that page."""

COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}

HOMES = {
    "api": "run.api",
    "backup": "database.backup",
    "bench": "bench",
    "client": "documents.client",
    "db": "database.db",
    "dead": "operate.dead",
    "demo": "demo.command",
    "doctor": "doctor.command",
    "document": "documents.document",
    "eval": "documents.evaluate",
    "explain": "documents.explain",
    "export": "documents.export",
    "index": "operate.index",
    "ingest": "ingest.command",
    "inlet": "inlets.command",
    "key": "tenants.installation_keys",
    "mcp": "mcp.command",
    "login": "run.login",
    "message": "operate.message",
    "migrate": "database.migrate",
    "model": "documents.model",
    "new": "new",
    "operation": "operate.operation",
    "process": "operate.process",
    "project": "tenants.project",
    "queue": "operate.queue",
    "reindex": "reindex.command",
    "restore": "database.restore",
    "schedule": "operate.schedule",
    "search": "documents.search",
    "simulate": "simulate",
    "source": "tenants.source",
    "task": "operate.task",
    "tenant": "tenants.tenant",
    "top": "operate.top",
    "up": "run.up",
    "vault": "operate.vault",
    "version": "version",
    "worker": "run.worker",
}
"""The module of each command in `penstock.cli`."""

SHARED = ("new", "model")
"""Commands that write files for others to read (a project's files, a cache), none in the data directory."""

_WIDEST = max(map(len, COMMANDS))
"""Command names are padded to the same width under every heading."""

Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and debug logs.")]
EndsWithParent = Annotated[bool, typer.Option("--ends-with-parent", hidden=True)]
AliveFd = Annotated[int | None, typer.Option("--alive-fd", hidden=True)]


class _Program(TyperGroup):
    """Lists commands under headings without rich, whose boxes are slow to load."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(_WIDEST), line) for name, line in commands.items()])


def build(words: Sequence[str]) -> typer.Typer:
    """The program with the modules of the commands named in `words`; of the others only name and help
    line."""
    program = typer.Typer(
        name="penstock",
        cls=_Program,
        help="Penstock ingests documents through a durable Postgres queue and makes them searchable.",
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    program.callback()(_options)
    # The other names are only for "Did you mean"; not needed once a command is known.
    known = next((word for word in words if not word.startswith("-")), None) in COMMANDS
    for name, line in COMMANDS.items():
        if name not in words:
            if not known:
                program.command(name, help=line)(_not_loaded)
            continue
        module = import_module(f"penstock.cli.{HOMES[name]}")
        if hasattr(module, "group"):
            program.add_typer(module.group, name=name, help=line)
        else:
            program.command(name, short_help=line)(module.command)
    return program


def run_program() -> int:
    """Run the command in sys.argv; any failure becomes one line on stderr and an exit code."""
    words = sys.argv[1:]
    ours = words[: words.index("--")] if "--" in words else words
    as_json = "--json" in ours
    debug = "--debug" in ours or os.environ.get("PENSTOCK_LOG_LEVEL", "").lower() == "debug"
    completing = "_PENSTOCK_COMPLETE" in os.environ
    if words in (["version"], ["version", "--json"], ["--version"]):
        version.command(as_json=as_json)  # Typer takes longer to start than the rest of this command
        return Exit.OK
    if not ours or ours[0] not in SHARED:
        os.umask(0o077)  # files in the data directory are private to this user
    typer_values.install()
    try:
        program = build(_words_to_complete() if completing else ours)
        _is_loaded()
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


def _is_loaded() -> None:
    """From here on garbage is collected, and Ctrl-C is an exception again, as `main` found it."""
    gc.freeze()
    gc.enable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _words_to_complete() -> Sequence[str]:
    """The words of the line that a shell completes; if they name no command, all commands."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    words = line.split()[1:]
    return words if any(word in COMMANDS for word in words) else tuple(COMMANDS)


def _options(
    debug: Debug = False, ends_with_parent: EndsWithParent = False, alive_fd: AliveFd = None
) -> None:
    if debug:
        os.environ["PENSTOCK_LOG_LEVEL"] = "debug"
    if ends_with_parent:
        end_with_parent()
    else:  # the parent process has already warned
        warn_of_misspelt(as_json="--json" in sys.argv)
    if alive_fd is not None:
        tell_parent(alive_fd)


def _not_loaded() -> None:
    raise AssertionError("a command must be loaded before it is called")


def _forget_stdout() -> None:
    """Redirect stdout to /dev/null: the reader has closed the pipe, and Python's flush at exit must not
    fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
