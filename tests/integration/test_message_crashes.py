"""Workers killed with SIGKILL as they send: messages may go twice, facts are written once, none is lost."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.integration.messaging import KINDS, Facts, Kind, Messaging, messaging
from tests.plugins.database import Database
from tests.plugins.workers import Crew, eventually

pytestmark = [pytest.mark.parametrize("kind", KINDS), pytest.mark.timeout(120)]

MESSAGES = 30
# Every test's database has this table under the same number, and the server shows the locks of all of them.
WAITS = (
    "l.relation = $1::regclass and not l.granted"
    " and l.database = (select oid from pg_database where datname = current_database())"
)


def hand(crew: Crew, post: Messaging, folder: Path) -> subprocess.Popen[bytes]:
    """A worker process that sends."""
    settings: dict[str, Any] = {
        **post.provider.settings,
        "data_dir": folder,
        "allow_private_addresses": "true",
        "poll_interval": 0.2,
    }
    return crew.spawn("penstock", "worker", **settings)


async def test_a_worker_killed_between_provider_and_success_handler_sends_twice_and_writes_once(
    kind: Kind, database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with messaging(kind, database, tmp_path) as post, database.connect("admin", name="gate") as gate:
        async with gate.transaction():
            await gate.execute(f"lock table comms.send_{kind}_attempt_succeeded in share mode")
            first = hand(crew, post, tmp_path)
            sent = await post.send()
            await eventually(lambda: _waits_at_gate(post), within=40, what="the success handler runs")
            assert post.provider.taken == ["The sluice is open"]
            crew.kill(first)
            # Its last statement must not outlive it: what it would write counts as never sent.
            await post.admin.execute(
                f"select pg_terminate_backend(l.pid, 5000) from pg_locks l where {WAITS}",
                f"comms.send_{kind}_attempt_succeeded",
            )
        hand(crew, post, tmp_path)
        await eventually(lambda: len(post.provider.taken) == 2, within=40)
        await post.over(within=40)
        assert post.provider.taken == ["The sluice is open"] * 2
        assert await post.facts(sent) == Facts(attempts=1, failed=0, succeeded=1)
        crew.dismiss()


async def test_a_killed_worker_loses_no_message(
    kind: Kind, database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with messaging(kind, database, tmp_path) as post:
        sent = [await post.send(f"message {number}") for number in range(MESSAGES)]
        first = hand(crew, post, tmp_path)
        await eventually(lambda: len(post.provider.taken) >= MESSAGES // 3, within=40, every=0.001)
        crew.kill(first)
        assert not await post.is_over()
        hand(crew, post, tmp_path)
        await post.over(within=60)
        counted = Counter(post.provider.taken)
        assert set(counted) == {f"message {number}" for number in range(MESSAGES)}
        assert {await post.facts(each) for each in sent} == {Facts(attempts=1, failed=0, succeeded=1)}
        crew.dismiss()


async def _waits_at_gate(post: Messaging) -> bool:
    return bool(
        await post.admin.fetchval(
            f"select exists (select from pg_locks l where {WAITS})",
            f"comms.send_{post.kind}_attempt_succeeded",
        )
    )
