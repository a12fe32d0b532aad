"""penstock worker: drains, shuts down gracefully, keeps several processes alive, explains a missing app."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
from collections.abc import Callable
from time import monotonic

import psutil
import pytest

from tests.plugins.busy import stretched
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

TASKS = 300


async def enqueue(database: Database, tasks: int = TASKS) -> None:
    async with database.connect("operator") as connection:
        call = "select queues.enqueue_many('shop.sell', array_fill('{}'::jsonb, array[$1::integer]))"
        await connection.execute(call, tasks)


async def completed(database: Database) -> int:
    async with database.connect() as connection:
        done: int = await connection.fetchval("select count(distinct task_id) from queues.task_completed")
        return done


async def alive(database: Database) -> set[str]:
    async with database.connect() as connection:
        rows = await connection.fetch("select worker_name from queues.workers() where lost_at is null")
        return {row["worker_name"].rpartition(":")[2] for row in rows}


async def until(question: Callable[[], object], *, seconds: float = 30.0) -> None:
    deadline = monotonic() + stretched(seconds)
    while not question():
        assert monotonic() < deadline
        await asyncio.sleep(0.05)


async def until_alive(database: Database, child: subprocess.Popen[str], number: int) -> set[str]:
    """The process ids of the workers, once this many children of this one are registered."""
    deadline = monotonic() + stretched(30)
    while True:
        pids = {str(each.pid) for each in [*psutil.Process(child.pid).children(), psutil.Process(child.pid)]}
        if len(found := pids & await alive(database)) == number:
            return found
        assert monotonic() < deadline
        assert child.poll() is None
        await asyncio.sleep(0.05)


async def test_until_empty_drains_and_ends(penstock: CommandLine, database: Database) -> None:
    assert penstock("worker", "--app", "shop:app", "--until-empty", "--json").json["closed"] == 0
    await enqueue(database)
    ended = penstock("worker", "--app", "shop:app", "--queue", "shop:20", "--until-empty", "--json")
    assert (ended.code, ended.json) == (0, {"processes": 1, "closed": TASKS, "restarts": 0})
    assert await completed(database) == TASKS


async def test_several_processes_drain_together(penstock: CommandLine, database: Database) -> None:
    penstock("worker", "--app", "shop", "--until-empty")
    await enqueue(database)
    ended = penstock("worker", "--app", "shop", "--processes", "2", "--until-empty", "--json")
    assert (ended.code, ended.json) == (0, {"processes": 2, "closed": TASKS, "restarts": 0})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_shuts_down_all_processes_gracefully(
    penstock: CommandLine, database: Database, number: signal.Signals
) -> None:
    with penstock.running("worker", "--app", "shop", "--processes", "2") as child:
        await until_alive(database, child, 2)
        child.send_signal(number)
        await until(lambda: child.poll() is not None)
        assert child.returncode == 0
    assert await alive(database) == set()


async def test_a_crashed_process_is_replaced(penstock: CommandLine, database: Database) -> None:
    with penstock.running("worker", "--app", "shop", "--processes", "2", "--json") as child:
        before = await until_alive(database, child, 2)
        victim = psutil.Process(int(min(before)))
        victim.kill()
        await until(lambda: not victim.is_running())
        after = await until_alive(database, child, 2)
        assert len(after - before) == 1
        child.terminate()
        out, _ = child.communicate(timeout=30)
        assert child.returncode == 0
        assert '"restarts": 1' in out


async def test_children_end_with_a_killed_supervisor(penstock: CommandLine, database: Database) -> None:
    with penstock.running("worker", "--app", "shop", "--processes", "2") as child:
        children = [psutil.Process(int(pid)) for pid in await until_alive(database, child, 2)]
        child.kill()
        await until(lambda: not any(each.is_running() for each in children))
    assert await alive(database) == set()


async def test_without_an_app_it_serves_metrics_and_the_queues_of_documents(
    penstock: CommandLine, database: Database
) -> None:
    documents = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    with documents.running("worker", "--metrics-port", "0", "--concurrency", "3") as child:
        await until_alive(database, child, 1)
        child.terminate()
        _, err = child.communicate(timeout=30)
    assert child.returncode == 0
    assert "metrics_served" in err
    assert '"ingest-document": 3' in err


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("nowhere:app", "there is no module 'nowhere'"),
        ("shop:none", "shop has no 'none'; it has the app app"),
        ("shop:other", "'other' is a int, not a Penstock"),
        ("bad:app", "importing bad failed at"),
        ("wants:app", "wants imports 'nothing_such', which is not installed"),
        (":app", "no module is named"),
    ],
)
def test_a_missing_app_is_explained(penstock: CommandLine, target: str, reason: str) -> None:
    (penstock.folder / "bad.py").write_text("1 / 0\n")
    (penstock.folder / "wants.py").write_text("import nothing_such\n")
    ended = penstock("worker", "--app", target)
    assert (ended.code, ended.out) == (1, "")
    assert reason in ended.err
    assert "module:variable" in ended.err
    assert "Traceback" not in ended.err


def test_an_invalid_queue_name_is_refused(penstock: CommandLine) -> None:
    assert penstock("worker", "--queue", "shop:many", "--until-empty").code == 2
    ended = penstock("worker", "--queue", "No Such", "--until-empty", "--json")
    assert ended.code == 1
    assert "is not a valid name for a queue" in ended.err


def test_a_refusal_ends_all_processes(penstock: CommandLine) -> None:
    ended = penstock("worker", "--app", "shop", "--queue", "No Such", "--processes", "2")
    assert ended.code == 1
    assert "is not a valid name for a queue" in ended.err


def test_a_taken_metrics_port_is_refused(penstock: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = penstock("worker", "--app", "shop", "--until-empty", "--metrics-port", str(port))
    assert ended.code == 1
    assert f"error: PENSTOCK_METRICS_PORT is invalid: port {port}" in ended.err
