"""What the command line changes is in the audit, under the name of the system's user."""

from __future__ import annotations

import getpass
import json
from typing import Any

import pytest

from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(240)
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
