"""Tests of mill.announce.

It starts once, makes its attempt, and is tried again after a failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from penstock import Penstock
from penstock.testing import Clock, Database

PROCESS = "mill.announce"
ANSWER: dict[str, object] = {}
"""What an attempt that succeeded leaves behind."""


class Run:
    """The process in a database of the test's own, for the tenant `default`."""

    def __init__(self, app: Any, database: Database) -> None:
        self.app = app
        self.database = database
        app.documents.list()  # the first call creates the tenant
        self.tenant_id = database.fetch("select tenant_id from accounts.tenant")[0]["tenant_id"]
        self.about = self.made()

    def made(self) -> str:
        """What the process is about."""
        return "the gate"

    def value(self, query: str, *arguments: object) -> Any:
        """The result of a function, called in a transaction of the tenant."""

        async def call() -> Any:
            async with self.app.app.transaction() as conn:
                await conn.execute("select set_config('penstock.tenant_id', $1, true)", str(self.tenant_id))
                return await conn.fetchval(query, *arguments)

        return self.app.run(call())

    def kickoff(self, about: object) -> dict[str, Any]:
        answer = self.value("select to_jsonb(k) from mill.kickoff_announce($1) k", about)
        return dict(json.loads(answer))

    def part(self, function: str, payload: object) -> dict[str, Any]:
        """Call a function of the process as a worker does."""
        answer = self.value("select internal.run_function($1, $2)", function, json.dumps(payload))
        return dict(json.loads(answer))

    def check(self) -> dict[str, Any]:
        """Run the supervisor; `outcome` is what it decided."""
        task_id = self.kickoff(self.about)["announce_task_id"]
        answer = self.part(f"{PROCESS}_supervisor", {"announce_task_id": task_id})
        assert answer["status"] == "succeeded", answer
        return dict(answer["payload"])

    def attempt(self) -> dict[str, Any]:
        """The supervisor makes an attempt; the payload that names it."""
        decided = self.check()
        assert decided["outcome"] == "attempted", decided
        return {"announce_attempt_id": decided["announce_attempt_id"]}


@pytest.fixture
def run(penstock_app: Penstock, penstock_database: Database, penstock_clock: Clock) -> Iterator[Run]:
    with penstock_app as app:
        yield Run(app, penstock_database)


def test_it_starts_once(run: Run) -> None:
    started = run.kickoff(run.about)
    assert started["validation_failure_message"] is None
    assert run.kickoff(run.about) == started


def test_an_invalid_kickoff_explains_itself(run: Run) -> None:
    assert run.kickoff("")["validation_failure_message"]


def test_an_attempt_that_succeeds_ends_it(run: Run) -> None:
    attempt = run.attempt()
    answer = run.part("mill.get_announce_payload", attempt)
    assert answer["status"] == "succeeded", answer
    # Check here that answer["payload"] is what the channel needs.
    success = {"original_payload": attempt, "worker_payload": ANSWER}
    assert run.part("mill.record_announce_success", success)["status"] == "succeeded"
    assert run.check()["outcome"] == "done"


def test_it_is_tried_again_after_a_failure(run: Run, penstock_clock: Clock) -> None:
    failure = {"original_payload": run.attempt(), "error": "the other side did not answer"}
    assert run.part("mill.record_announce_failure", failure)["status"] == "succeeded"
    assert run.check()["outcome"] == "backing_off"
    penstock_clock.advance(hours=1)
    assert run.check()["outcome"] == "attempted"
