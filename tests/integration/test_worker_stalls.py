"""A handler that blocks the event loop: its worker notices, says where, and ends; nothing else suffers."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.db import Connection
from tests.plugins.command_line import CommandLine, addresses
from tests.plugins.database import Database
from tests.plugins.workers import Books, Mill, eventually, working

pytestmark = pytest.mark.timeout(180)

STALL = "stalling:app"
OPTIONS = ("--app", STALL, "--queue", "stall:3")


@pytest.fixture
def stalling(database: Database, tmp_path: Path) -> CommandLine:
    """penstock with a short lease and a short stall, in a folder with the module `stalling`."""
    shutil.copy(Path(__file__).with_name("stalling.py"), tmp_path)
    return CommandLine(
        tmp_path,
        {
            **addresses(database),
            "PENSTOCK_LEASE_SECONDS": "1.5",
            "PENSTOCK_BEAT_SECONDS": "0.3",
            "PENSTOCK_STALL_SECONDS": "1",
            "PENSTOCK_LOG_FORMAT": "json",
            "PENSTOCK_GRACE_SECONDS": "5",
        },
    )


async def enqueue(admin: Connection, task_type: str, payload: dict[str, float] | None = None) -> int:
    found: int = await admin.fetchval(
        "select queues.enqueue($1, $2::jsonb)", task_type, json.dumps(payload or {})
    )
    return found


async def declare(stalling: CommandLine) -> None:
    ended = await asyncio.to_thread(stalling, "worker", *OPTIONS, "--until-empty")
    assert ended.code == 0, ended.err


def events(text: str, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


async def test_a_stalled_worker_logs_every_stack_gives_the_rest_back_and_exits(
    mill: Mill, stalling: CommandLine
) -> None:
    await declare(stalling)
    async with mill.open(mill.app()) as books:
        beside = await enqueue(books.admin, "waits", {"seconds": 600})
        with stalling.running("worker", *OPTIONS) as child:
            await books.becomes(beside, "running")
            culprit = await enqueue(books.admin, "sleeps")
            _, err = await asyncio.to_thread(child.communicate, None, 60)
        assert child.returncode == 75
        [stalled] = events(err, "loop_stalled")
        assert (stalled["task_id"], stalled["task_type"]) == (culprit, "sleeps")
        assert stalled["seconds"] >= 1
        main, *others = stalled["stacks"].items()
        assert main[0].startswith("MainThread")
        assert "in sleeps" in main[1][-1]
        assert any("penstock-heartbeat" in name for name, _ in others)
        # What ran beside it went back at once and uncharged; the culprit's lease runs out.
        assert await books.outcomes(beside) == ["released"]
        assert await books.state(culprit) == "running"
        await books.admin.execute("select queues.cancel_task($1)", beside)
        await books.admin.execute("select pg_sleep(1.6)")
        await books.admin.execute("select queues.rescue()")
        assert await books.outcomes(culprit) == ["lost"]


@pytest.mark.parametrize("task_type", ["sleeps", "spins"])
async def test_after_three_stalls_the_task_is_quarantined_and_the_others_complete(
    mill: Mill, stalling: CommandLine, task_type: str
) -> None:
    await declare(stalling)
    async with mill.open(mill.app()) as books:
        before = await _processes(books)
        with stalling.running("worker", *OPTIONS, "--processes", "2", "--json") as child:
            culprit = await enqueue(books.admin, task_type)
            for _ in range(40):
                await enqueue(books.admin, "waits", {"seconds": 0.1})
            await books.becomes(culprit, "dead", within=90)
            await eventually(lambda: _completed(books, 40), within=60)

            async def replaced() -> bool:
                """The third too: another worker may bury the task before its process is started again."""
                return await _processes(books) == before + 2 + 3

            await eventually(replaced, within=60)
            child.send_signal(signal.SIGTERM)
            out, err = await asyncio.to_thread(child.communicate, None, 60)
        assert child.returncode == 0
        assert json.loads(out)["restarts"] == 3
        assert [line["exit_code"] for line in events(err, "child_process_ended")] == [75, 75, 75]
        assert await books.outcomes(culprit) == ["lost", "lost", "lost"]
        assert await books.value("select reason from queues.dead_letter") == "quarantined"
        assert await books.count("queues.dead_letter") == 1
        await books.assert_sound()


async def _processes(books: Books) -> int:
    """How many processes have registered a worker so far; their number is in its name."""
    found: int = await books.value(
        "select count(distinct worker_name) from queues.worker where worker_id > 0"
    )
    return found


async def _completed(books: Books, count: int) -> bool:
    return await books.completed() == count


async def test_native_code_that_keeps_the_interpreter_ends_the_worker_too(
    mill: Mill, stalling: CommandLine
) -> None:
    """No thread of ours runs then: processor time ends it, and the stacks are on stderr."""
    await declare(stalling)
    async with mill.open(mill.app()) as books:
        await enqueue(books.admin, "matches")
        with stalling.running("worker", *OPTIONS) as child:
            _, err = await asyncio.to_thread(child.communicate, None, 90)
        assert child.returncode == -signal.SIGPROF
        assert "in matches" in err


async def test_a_worker_that_was_frozen_does_not_count_that_time(mill: Mill, stalling: CommandLine) -> None:
    await declare(stalling)
    async with mill.open(mill.app()) as books:
        with stalling.running("worker", *OPTIONS) as child:
            task = await enqueue(books.admin, "waits", {"seconds": 1})
            await books.becomes(task, "running")
            child.send_signal(signal.SIGSTOP)
            await books.admin.execute("select pg_sleep(4)")
            child.send_signal(signal.SIGCONT)
            await books.becomes(task, "completed", within=30)
            assert child.poll() is None
            child.terminate()
            _, err = await asyncio.to_thread(child.communicate, None, 30)
        assert child.returncode == 0
        assert not events(err, "loop_stalled")


async def test_a_supervised_worker_that_does_not_answer_is_replaced(
    mill: Mill, stalling: CommandLine
) -> None:
    await declare(stalling)
    async with mill.open(mill.app()) as books:
        with stalling.running("worker", *OPTIONS, "--processes", "2", "--json") as child:

            def workers() -> set[int]:
                return {each.pid for each in psutil.Process(child.pid).children()}

            async def registered() -> bool:
                names = await books.value(
                    "select array_agg(worker_name) from queues.worker"
                    " where stopped_at is null and lost_at is null and worker_id > 0"
                )
                found = {int(name.rpartition(":")[2]) for name in names or []}
                return len(found) == 2 and workers() == found

            await eventually(lambda: len(workers()) == 2)
            await eventually(registered, within=60)
            frozen = min(workers())
            psutil.Process(frozen).send_signal(signal.SIGSTOP)
            await eventually(lambda: frozen not in workers(), within=60)
            await eventually(registered, within=60)
            child.terminate()
            out, err = await asyncio.to_thread(child.communicate, None, 60)
        assert json.loads(out)["restarts"] == 1
        [silent] = events(err, "child_process_silent")
        assert silent["pid"] == frozen


BLOCKING = """
import asyncio, os, re, time

run = asyncio.Runner.run

async def blocks_when_told():
    while not os.path.exists("block"):
        await asyncio.sleep(0.1)
    {blocks}

async def beside(main):
    blocking = asyncio.create_task(blocks_when_told())
    await main

asyncio.Runner.run = lambda self, main, **options: run(self, beside(main), **options)
"""


@pytest.mark.parametrize(
    ("blocks", "code"),
    [("time.sleep(600)", 75), ("re.match('(?:x+x+)+y', 'x' * 60)", -signal.SIGPROF)],
)
async def test_an_api_without_a_supervisor_exits_when_its_loop_is_stalled(
    stalling: CommandLine, tmp_path: Path, blocks: str, code: int
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKING.format(blocks=blocks))
    with stalling.with_variables(PYTHONPATH=str(tmp_path)).running("api", "--port", "0", "--json") as child:
        assert child.stdout is not None
        assert json.loads(await asyncio.to_thread(child.stdout.readline))["url"]
        (tmp_path / "block").touch()
        _, err = await asyncio.to_thread(child.communicate, None, 90)
    assert child.returncode == code
    assert "in blocks_when_told" in err
    if code == 75:
        [stalled] = events(err, "loop_stalled")
        assert stalled["seconds"] >= 1
        assert "in blocks_when_told" in next(iter(stalled["stacks"].values()))[-1]


async def test_a_worker_inside_a_program_hands_its_tasks_back_and_returns_when_the_loop_responds(
    mill: Mill,
) -> None:
    app = mill.app(lease_seconds=1.5, beat_seconds=0.3, stall_seconds=1.0)
    release = threading.Event()
    seen: list[int] = []

    @app.task()
    async def rude(payload: dict[str, int]) -> None:
        seen.append(1)
        if len(seen) == 1:
            release.wait(30)

    async with mill.open(app) as books:
        task = await rude.enqueue({})
        async with working(app) as worker:
            assert worker.registration is not None
            old = worker.registration.worker_id

            def free_when_lost() -> None:
                """In a thread: this test's loop is the one that is blocked."""

                async def look() -> None:
                    async with mill.database.connect("admin", name="looking") as admin:

                        async def lost() -> bool:
                            await admin.execute("select queues.rescue()")
                            found: bool = await admin.fetchval(
                                "select lost_at is not null from queues.worker where worker_id = $1", old
                            )
                            return found

                        await eventually(lost, within=20)

                try:
                    asyncio.run(look())
                finally:
                    release.set()

            looking = threading.Thread(target=free_when_lost)
            looking.start()
            await books.becomes(task, "completed", within=30)
            await asyncio.to_thread(looking.join)
            assert worker.registration.worker_id > old
        assert (await books.outcomes(task))[0] == "lost"
        assert (await books.outcomes(task))[-1] == "completed"
