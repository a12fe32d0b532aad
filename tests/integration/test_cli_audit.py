"""What the command line changes is in the audit, under the name of the system's user."""

from __future__ import annotations

import ast
import getpass
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from penstock.cli.program import COMMANDS, build
from tests.integration.failed_processes import failed_process
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(240)
WRITERS = {"audited", "audited_for", "audited_operations"}
ONLY_READ = {
    *("search", "eval", "explain", "export", "top", "doctor", "version", "bench", "tenant receipt"),
    *("document list", "document show", "document get", "client list", "client show", "reindex status"),
    *("model list", "mcp", "mcp config", "tenant list", "tenant show", "tenant key list", "key list"),
    *("project list", "project show", "project gate show", "project gate history", "source show"),
    *("source skipped", "source list", "process list", "process show", "queue list", "queue stats"),
    *(
        "queue workers",
        "task show",
        "task list",
        "dead list",
        "dead show",
        "schedule list",
        "inlet list",
        "inlet show",
    ),
    *("operation list", "operation show", "db status", "db check", "db url", "vault status", "index status"),
}
WITHOUT_A_ROW = {
    **dict.fromkeys(("up", "api", "worker", "inlet run"), "it runs until it is stopped"),
    **dict.fromkeys(("demo", "simulate"), "it has a database of its own, or none"),
    **dict.fromkeys(("backup", "db backup", "model install", "new process"), "it writes files"),
    **dict.fromkeys(("restore", "db restore"), "the audit comes out of the backup"),
    "migrate": "the migrations themselves are its history",
    "db psql": "it runs the user's own SQL; queues.audit names the login",
    "db stop": "no database is running afterwards",
    "index move": "points change their place in Qdrant and nothing else",
}
INSTALLATION = "select all_tenants.list_audit(_limit => 100)"

THREE_DEAD = """
insert into queues.dead_letter (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority,
  attempts, losses, reason, error_code, error_message, fingerprint, errors, died_at)
select nextval('queues.task_id_seq'), 'email', '{}', now(), now(), q.queue_id, 4, 5, 0, 'exhausted', 'Error',
  'it broke', 'abcdefabcdef', '[]', now()
from generate_series(1, 3), (select queue_id from queues.queue where queue_name = 'default') q
"""


async def rows(database: Database) -> list[dict[str, Any]]:
    """The audit of the installation and all tenants, oldest first."""
    async with database.connect("operator") as operator:
        return [json.loads(row[0]) for row in await operator.fetch(INSTALLATION)][::-1]


async def test_a_command_that_changes_something_leaves_a_row_in_the_audit(
    penstock: CommandLine, database: Database
) -> None:
    assert penstock("tenant", "create", "acme").code == 0
    assert penstock("tenant", "set", "acme", "--max-keys", "5").code == 0
    made = penstock("tenant", "key", "create", "acme", "--name", "deploy", "--json").json
    assert penstock("tenant", "key", "revoke", "acme", made["key_id"]).code == 0
    assert penstock("queue", "pause", "default").code == 0
    assert penstock("queue", "resume", "default").code == 0
    assert penstock("queue", "pause", "nowhere").code != 0
    assert penstock("queue", "limits", "default").code == 0  # it only looks
    found = await rows(database)
    assert [(row["action"], row["target"], row["tenant"], row["status"]) for row in found] == [
        ("penstock tenant create", "acme", None, 200),
        ("penstock tenant set", "acme", None, 200),
        ("penstock tenant key create", "deploy", "acme", 200),
        ("penstock tenant key revoke", made["key_id"], "acme", 200),
        ("penstock queue pause", "default", None, 200),
        ("penstock queue resume", "default", None, 200),
        ("penstock queue pause", "nowhere", None, 400),
    ]
    assert {row["who"] for row in found} == {f"cli:{getpass.getuser()}"}
    assert found[2]["detail"]["scopes"] == ["admin"]
    assert made["secret"] not in json.dumps(found)


async def test_a_replay_a_purge_and_an_operation_leave_a_row_with_their_number(
    penstock: CommandLine, database: Database
) -> None:
    assert penstock("tenant", "create", "acme").code == 0
    async with database.connect("runtime") as runtime:
        await runtime.execute("select queues.put_task_type('email')")
        await runtime.execute("select queues.put_task_type('operate')")
    async with database.connect("admin") as admin:
        await admin.execute(THREE_DEAD)
    assert penstock("dead", "replay", "--all", "--yes", "--dry-run").code == 0
    assert penstock("dead", "replay", "--all", "--limit", "1", "--yes").code == 0
    assert penstock("dead", "purge", "--type", "email", "--yes").code == 0
    started = penstock("operation", "start", "tasks.cancel", "task_type=email", "--yes", "--json").json
    assert penstock("operation", "cancel", started["operation_id"]).code == 0
    found = [row for row in await rows(database) if not row["action"].startswith("penstock tenant")]
    assert [(row["action"], row["target"], row["detail"].get("count")) for row in found] == [
        ("penstock dead replay", "all", 1),
        ("penstock dead purge", "type email", 2),
        ("penstock operation start", "tasks.cancel", 1),
        ("penstock operation cancel", started["operation_id"], None),
    ]


async def test_changes_of_a_tenant_leave_rows_in_its_own_audit(
    penstock: CommandLine, database: Database
) -> None:
    documents = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    assert penstock("tenant", "create", "acme").code == 0
    (penstock.folder / "mill.md").write_text("The mill opens at six.")
    of = ("--tenant", "acme")
    for words in (
        ("project", "create", "north", *of),
        ("project", "list", *of),
        ("project", "set", "north", "--name", "The north", *of),
        ("project", "delete", "north", "--dry-run", *of),
        ("project", "delete", "north", "--yes", *of),
        ("source", "create", *of),
        ("client", "add", "Northwind", *of),
        ("tenant", "webhook", "acme", "none"),
        ("ingest", "mill.md", "--no-wait", "--no-worker", *of),
        ("document", "delete", "mill.md", "--yes", *of),
    ):
        done = documents(*words)
        assert done.code == 0, (words, done.err)
    many = [f"report-{number}.md" for number in range(200)]
    assert documents("document", "retry", *many, *of).code != 0
    assert documents("project", "set", "nowhere", "--name", "x", *of).code != 0
    found = [row for row in await rows(database) if row["action"] != "penstock tenant create"]
    assert [(row["action"], row["target"], row["status"]) for row in found] == [
        ("penstock project create", "north", 200),
        ("penstock project set", "north", 200),
        ("penstock project delete", "north", 200),
        ("penstock source create", None, 200),
        ("penstock client add", "Northwind", 200),
        ("penstock tenant webhook", "acme", 200),
        ("penstock document delete", "mill.md", 200),
        ("penstock document retry", ", ".join(many)[:1_000], 200),
        ("penstock project set", "nowhere", 400),
    ]
    assert {row["tenant"] for row in found} == {"acme"}


async def test_a_command_that_names_one_document_and_is_refused_says_so_in_the_audit(
    penstock: CommandLine, database: Database
) -> None:
    documents = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    assert penstock("tenant", "create", "acme").code == 0
    (penstock.folder / "mill.md").write_text("The mill opens at six.")
    of = ("--tenant", "acme")
    assert documents("ingest", "mill.md", "--no-wait", "--no-worker", *of).code == 0
    async with database.connect("admin") as admin:
        await admin.execute("update ingest.document set status = 'indexed'")
    refused = documents("document", "retry", "mill.md", "--json", *of)
    assert (refused.code, refused.error["code"]) == (1, "invalid_move")
    assert documents("document", "delete", "nowhere.md", "--yes", *of).code == 1
    assert documents("document", "retry", "mill.md", "nowhere.md", *of).code == 1
    assert [(row["action"], row["target"], row["status"]) for row in (await rows(database))[1:]] == [
        ("penstock document retry", "mill.md", 400),
        ("penstock document delete", "nowhere.md", 400),
        ("penstock document retry", "mill.md, nowhere.md", 200),  # each was tried, and said by itself
    ]


async def test_a_sign_in_link_leaves_a_row_with_whom_it_is_for(
    penstock: CommandLine, database: Database
) -> None:
    assert penstock("tenant", "create", "acme").code == 0
    whole = penstock("login", "--name", "ada", "--json").json
    own = penstock("login", "--name", "bob", "--role", "viewer", "--tenant", "acme", "--json").json
    assert penstock("login", "--tenant", "nowhere").code != 0  # there is no audit to put it in
    found = (await rows(database))[1:]
    assert [(row["action"], row["target"], row["tenant"], row["detail"], row["status"]) for row in found] == [
        ("penstock login", "ada", None, {"role": "admin"}, 200),
        ("penstock login", "bob", "acme", {"role": "viewer"}, 200),
    ]
    assert {row["who"] for row in found} == {f"cli:{getpass.getuser()}"}
    assert all(made["url"].rpartition("/")[2] not in json.dumps(found) for made in (whole, own))


async def test_changes_of_the_vaults_keys_leave_rows_in_the_audit_of_the_installation(
    penstock: CommandLine, database: Database
) -> None:
    assert penstock("tenant", "create", "acme").code == 0
    assert penstock("source", "create", "--tenant", "acme").code == 0
    before = penstock("vault", "status", "--json").json["keys"][0]["key_id"]
    assert penstock("vault", "rotate", "--dry-run").code == 0
    made = penstock("vault", "rotate", "--json").json["rotation"]["key_id"]
    assert penstock("vault", "forget-key", made).code != 0
    assert penstock("vault", "forget-key", before, "--dry-run").code == 0
    assert penstock("vault", "forget-key", before).code == 0
    rotated = {"key_id": made, "new_key": True, "count": 1, "unreadable": 0}
    found = [row for row in await rows(database) if row["action"].startswith("penstock vault")]
    assert [(row["action"], row["target"], row["tenant"], row["detail"], row["status"]) for row in found] == [
        ("penstock vault rotate", None, None, rotated, 200),
        ("penstock vault forget-key", made, None, {}, 400),
        ("penstock vault forget-key", before, None, {}, 200),
    ]


async def test_a_process_that_is_started_again_leaves_a_row(
    penstock: CommandLine, database: Database
) -> None:
    made = penstock("tenant", "create", "acme", "--json").json
    async with database.connect("admin") as admin:
        failed = await failed_process(admin, made["tenant_id"])
    assert penstock("process", "retry", failed).code == 0
    assert penstock("process", "retry", failed).code != 0
    found = [row for row in await rows(database) if row["action"] != "penstock tenant create"]
    assert [(row["action"], row["target"], row["status"]) for row in found] == [
        ("penstock process retry", failed, 200),
        ("penstock process retry", failed, 400),
    ]


def test_every_command_that_changes_something_is_written_to_leave_a_row() -> None:
    """A new command must be named here if it leaves no row."""
    every = dict(callbacks(typer.main.get_command(build(tuple(COMMANDS)))))
    assert set(every) >= ONLY_READ | set(WITHOUT_A_ROW), "listed, but there is no such command any more"
    changing = set(every) - ONLY_READ - set(WITHOUT_A_ROW)
    assert {name for name in changing if not leaves_a_row(every[name])} == set()


def callbacks(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command with its function; a group that does something by itself is one, too."""
    if hasattr(command, "commands"):
        for name, each in command.commands.items():
            yield from callbacks(each, (*path, name))
        if not command.invoke_without_command:
            return
    yield " ".join(path), inspect.unwrap(command.callback)


def leaves_a_row(function: Any) -> bool:
    """Whether it, or what it calls in penstock.cli, writes a row."""
    seen: set[Any] = set()
    left = [function]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        inside = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(one)))))
        names = {node.id for node in inside if isinstance(node, ast.Name)}
        given = {node.arg for node in inside if isinstance(node, ast.keyword)}
        if names & WRITERS or "change" in given:
            return True
        known = vars(sys.modules[one.__module__])
        found = [known[name] for name in names if name in known]
        left += [each for each in found if inspect.isfunction(each) or inspect.isclass(each)]
        left = [each for each in left if each.__module__.startswith("penstock.cli.") and not _opens(each)]
    return False


def _opens(each: Any) -> bool:
    """What every command opens; it writes rows for those that ask for it."""
    return each.__module__ in ("penstock.cli.tenant_session", "penstock.cli.session")


async def test_changes_of_inlets_leave_rows_in_the_audit_of_the_installation(
    penstock: CommandLine, database: Database
) -> None:
    url = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders"
    for words in (
        ("inlet", "add", "sqs", "orders", "--queue-url", url, "--any-type"),
        ("inlet", "pause", "orders"),
        ("inlet", "list"),
        ("inlet", "resume", "orders"),
        ("inlet", "remove", "orders", "--dry-run"),
        ("inlet", "remove", "orders", "--yes"),
    ):
        done = penstock(*words)
        assert done.code == 0, (words, done.err)
    assert [(row["action"], row["target"], row["tenant"]) for row in await rows(database)] == [
        (f"penstock inlet {verb}", "orders", None) for verb in ("add", "pause", "resume", "remove")
    ]
