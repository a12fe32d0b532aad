"""What a worker says: ids and codes, never a payload; and the counts Prometheus reads."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from penstock import Context, Snooze, Table
from penstock.observe import MetricsServer, configure
from tests.plugins.workers import Mill, working

CANARY = "canary-7f3a"


class Lines:
    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    def of(self, event: str) -> list[dict[str, Any]]:
        parsed: list[dict[str, Any]] = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in parsed if line["event"] == event]


@pytest.fixture
def lines(request: pytest.FixtureRequest) -> Iterator[Lines]:
    """Everything logged, as JSON, at the level the test is parametrised with."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure(getattr(request, "param", "info"), "json", stream=stream)
    yield Lines(stream)
    for handler in [known for known in root.handlers if known not in before]:
        root.removeHandler(handler)
    root.setLevel(level)


async def drain(mill: Mill) -> tuple[int, int, int]:
    """One task that completes, one that fails twice and one that dies, all carrying the canary."""
    app = mill.app(log_format="json")

    @app.task(retry=Table((0, 0, 0)))
    async def handle(payload: dict[str, str], ctx: Context) -> None:
        if payload["do"] == "fail" and ctx.attempt < 3:
            raise ConnectionError("the far end hung up")
        if payload["do"] == "die":
            raise LookupError("no such page")

    async with mill.open(app) as books, working(app) as worker:
        good, bad, dead = [
            await handle.enqueue({"do": do, "text": CANARY, "token": CANARY})
            for do in ("pass", "fail", "die")
        ]
        await books.becomes(good, "completed")
        await books.becomes(bad, "completed")
        await books.becomes(dead, "dead")
        assert worker.registration is not None
    return good, bad, dead


async def test_a_failed_task_is_logged_with_its_ids_its_attempt_and_whether_it_will_be_retried(
    mill: Mill, lines: Lines
) -> None:
    good, bad, dead = await drain(mill)
    failed = lines.of("task_failed")
    assert [
        (line["task_id"], line["attempt"], line["will_retry"]) for line in failed if line["task_id"] == bad
    ] == [
        (bad, 1, True),
        (bad, 2, True),
    ]
    last = [line for line in failed if line["task_id"] == dead][-1]
    assert (last["attempt"], last["will_retry"], last["error_code"]) == (3, False, "LookupError")
    for line in failed:
        assert line["level"] == "info"
        assert line["task_type"] == "handle"
        assert line["lease_id"] > 0
        assert line["worker_id"] > 0
        assert line["error_message"] in ("the far end hung up", "no such page")
        assert line["error_traceback"][-1].endswith(" in handle")
    assert good not in {line["task_id"] for line in failed}


async def test_claims_and_completions_are_not_logged_one_by_one_at_info(mill: Mill, lines: Lines) -> None:
    await drain(mill)
    assert lines.of("task_claimed") == []
    assert lines.of("task_completed") == []
    assert sum(line["count"] for line in lines.of("tasks_closed")) > 0


@pytest.mark.parametrize("lines", ["debug"], indirect=True)
async def test_at_debug_every_claim_and_completion_is_a_line(mill: Mill, lines: Lines) -> None:
    good, bad, dead = await drain(mill)
    claimed = [line["task_id"] for line in lines.of("task_claimed")]
    assert sorted(claimed) == sorted([good, *[bad] * 3, *[dead] * 3])
    completed = {line["task_id"]: line for line in lines.of("task_completed")}
    assert completed.keys() == {good, bad}
    assert completed[bad]["attempt"] == 3
    assert completed[bad]["duration_ms"] >= 0


@pytest.mark.parametrize("lines", ["info", "debug"], indirect=True)
async def test_no_line_ever_shows_a_payload(mill: Mill, lines: Lines) -> None:
    await drain(mill)
    assert "task_failed" in lines.text
    assert CANARY not in lines.text


async def test_the_metrics_endpoint_counts_what_was_drained(mill: Mill) -> None:
    app = mill.app()
    runs = 0

    @app.task(retry=Table((0, 0)))
    async def count(payload: dict[str, str], ctx: Context) -> Snooze | None:
        nonlocal runs
        runs += 1
        match payload["do"]:
            case "fail":
                raise OSError
            case "snooze" if ctx.lease_id % 2 >= 0 and runs_of(payload) == 1:
                return Snooze(0)
        return None

    seen: dict[str, int] = {}

    def runs_of(payload: dict[str, str]) -> int:
        seen[payload["do"]] = seen.get(payload["do"], 0) + 1
        return seen[payload["do"]]

    async with mill.open(app) as books, working(app) as worker:
        server = MetricsServer(worker.metrics, 0)
        await server.start()
        try:
            await count.enqueue_many([{"do": "pass"} for _ in range(40)])
            task = await count.enqueue({"do": "fail"})
            snoozed = await count.enqueue({"do": "snooze"})
            await books.becomes(task, "dead")
            await books.becomes(snoozed, "completed")
            for duty in worker._duties:
                if duty.name in ("gauges", "durations"):
                    await duty.run_once()
            text = await _scrape(server.port)
        finally:
            await server.stop()
        assert worker.registration is not None
        worker_id = worker.registration.worker_id
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    assert float(samples[f'job_claimed_total{{job_type="count",worker_id="{worker_id}"}}']) == 44
    assert float(samples['job_completed_total{job_type="count",status="success"}']) == 41
    assert float(samples['job_completed_total{job_type="count",status="failed"}']) == 1
    assert float(samples['job_completed_total{job_type="count",status="dead"}']) == 1
    assert float(samples['job_completed_total{job_type="count",status="snoozed"}']) == 1
    assert float(samples['job_processing_seconds_count{job_type="count"}']) == 44
    assert float(samples['job_queue_depth{job_type="count",queue="default"}']) == 0
    for name in ("job_notification_received_total", "job_poll_scanned_total", "job_leases_lost_total"):
        assert any(sample.startswith(name) for sample in samples), name
    assert runs == 44


async def _scrape(port: int) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()
    return answer.decode().split("\r\n\r\n", 1)[1]


async def test_the_depth_of_a_queue_is_counted_by_job_type(mill: Mill) -> None:
    app = mill.app()

    @app.task(name="bill", queue="paper")
    async def bill(payload: dict[str, str]) -> None: ...

    @app.task(name="letter", queue="paper")
    async def letter(payload: dict[str, str]) -> None: ...

    @app.task(name="idle", queue="paper")
    async def idle(payload: dict[str, str]) -> None: ...

    async with mill.open(app) as books, working(app, {"default": 1}):
        await bill.enqueue_many([{} for _ in range(3)])
        await letter.enqueue_many([{} for _ in range(5)])
        rows = await books.admin.fetch("select * from queues.depths() where queue = 'paper'")
        assert [(row["task_type"], row["ready"]) for row in rows] == [("bill", 3), ("idle", 0), ("letter", 5)]
        rows = await books.admin.fetch("select * from queues.depths(4) where queue = 'paper'")
        counts = {row["task_type"]: row["ready"] for row in rows}
        assert sum(counts.values()) == 8
        assert counts["other"] == 4
