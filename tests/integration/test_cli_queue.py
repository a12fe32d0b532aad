"""Queues and tasks by the command line: limits keep what is not named, retry says why it refuses."""

from __future__ import annotations

from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database


async def enqueued(database: Database, *, seconds: int = 0, task_type: str = "email") -> int:
    async with database.connect("operator") as connection:
        call = "select queues.enqueue($1, '{}', _delay => make_interval(secs => $2))"
        task_id: int = await connection.fetchval(call, task_type, seconds)
        return task_id


def test_limits_change_what_is_named_and_keep_the_rest(penstock: CommandLine) -> None:
    penstock("queue", "limits", "default", "--max-running", "4", "--rate", "100/min", "--burst", "5")
    penstock("queue", "limits", "default", "--max-running", "none")
    penstock("queue", "limits", "default", "--each-key", "--max-running", "2")
    penstock("queue", "limits", "default", "--key", "acme", "--rate", "5/2s")
    penstock("queue", "limits", "default", "--key", "acme", "--max-running", "9")
    found = {
        row["scope"].split()[0]: (
            row["max_running"],
            row["rate_count"],
            row["rate_period_seconds"],
            row["rate_burst"],
        )
        for row in penstock("queue", "limits", "default", "--json").json["limits"]
    }
    assert found == {
        "queue": (None, 100, 60.0, 5),
        "each_key": (2, None, None, None),
        "key": (9, 5, 2.0, None),
    }
    assert "5/2s" in penstock("queue", "limits", "default").out
    penstock("queue", "limits", "default", "--key", "acme", "--rate", "none", "--max-running", "none")
    assert penstock("queue", "limits", "default", "--key", "acme", "--json").json["limits"] == []


def test_invalid_limits_are_a_usage_error(penstock: CommandLine) -> None:
    for words in (
        ["--rate", "0/min"],
        ["--rate", "5"],
        ["--max-running", "-1"],
        ["--each-key", "--key", "a"],
    ):
        ended = penstock("queue", "limits", "default", *words)
        assert (ended.code, ended.out) == (2, ""), words
    ended = penstock("queue", "limits", "default", "--burst", "0")
    assert ended.code == 2


async def test_retry_runs_a_waiting_task_now(penstock: CommandLine, database: Database) -> None:
    task_id = await enqueued(database, seconds=3600)
    assert "not_due" in penstock("explain", str(task_id)).out
    assert penstock("task", "retry", str(task_id)).out == f"{task_id}  due\n"
    assert "admission" in penstock("explain", str(task_id)).out


async def test_retry_says_why_it_refuses(penstock: CommandLine, database: Database) -> None:
    ready, waiting = await enqueued(database), await enqueued(database, seconds=3600)
    ended = penstock("task", "retry", str(ready))
    assert (ended.code, ended.out) == (1, "")
    assert f"task {ready} is ready" in ended.err
    assert f"penstock explain {ready}" in ended.err
    both = penstock("task", "retry", str(ready), str(waiting), "--json")
    assert both.code == 1
    results = {row["task_id"]: row["result"] for row in both.json["tasks"]}
    assert results == {ready: "refused", waiting: "due"}
    penstock("task", "cancel", str(waiting), "--reason", "enough")
    assert f"task {waiting} is cancelled" in penstock("task", "retry", str(waiting)).err


async def test_list_shows_the_tasks_of_a_state(penstock: CommandLine, database: Database) -> None:
    ids = [await enqueued(database), await enqueued(database), await enqueued(database, task_type="sms")]
    found = penstock("task", "list", "--state", "ready", "--type", "email", "--json").json["tasks"]
    assert [row["task_id"] for row in found] == ids[:2]
    assert len(penstock("task", "list", "--state", "ready", "--limit", "1").out.splitlines()) == 2
    assert penstock("task", "list", "--queue", "nope").code == 1


async def test_workers_are_listed_and_asked_to_stop_and_an_operation_names_the_number(
    penstock: CommandLine, database: Database
) -> None:
    async with database.connect("admin") as admin:
        worker_id = await admin.fetchval("select queues.register_worker('mill:1', '{default}', '15 s')")
        await admin.execute("select queues.put_task_type('operate', 'operate')")  # as a worker does
    listed = penstock("queue", "workers", "--json").json["workers"]
    assert [(row["worker_id"], row["state"]) for row in listed] == [(worker_id, "alive")]
    would = penstock("queue", "stop-worker", str(worker_id), "--dry-run", "--json").json
    assert (would["dry_run"], would["count"]) == (True, 1)
    counted = penstock("operation", "start", "workers.stop", "q=mill", "--dry-run", "--json").json
    assert (counted["dry_run"], counted["count"]) == (True, 1)
    assert penstock("operation", "start", "workers.stop", "q=mill").code == 1, "without --yes it asks"
    assert penstock("operation", "start", "workers.stop", "q").code == 2
    begun = penstock("operation", "start", "workers.stop", "q=mill", "--yes", "--json").json
    assert (begun["action"], begun["state"], begun["total"]) == ("workers.stop", "running", 1)
    assert penstock("queue", "stop-worker", str(worker_id), "--json").json["asked"] is True
    assert penstock("queue", "stop-worker", str(worker_id), "--json").json["asked"] is False
    assert penstock("queue", "workers", "--json").json["workers"][0]["state"] == "stopping"


def test_the_queues_are_listed_with_their_limits(penstock: CommandLine) -> None:
    penstock("queue", "limits", "default", "--max-running", "4", "--rate", "100/min")
    penstock("queue", "pause", "default")
    (row,) = [
        each for each in penstock("queue", "list", "--json").json["queues"] if each["queue"] == "default"
    ]
    assert (row["paused"], row["ready"], row["running"], row["max_running"]) == (True, 0, 0, 4)
    assert row["rate"].startswith("100")
    head, *lines = penstock("queue", "list").out.splitlines()
    assert head.split() == [
        "queue",
        "paused",
        "ready",
        "waiting",
        "running",
        "max_running",
        "rate",
        "workers",
    ]
    assert any(line.split()[:2] == ["default", "yes"] for line in lines)
