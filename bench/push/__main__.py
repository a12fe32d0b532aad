"""`python -m bench push`: 200 notifications a second while syncs run; how soon the webhook answers."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Place
from bench.documents.running_engine import admin, make_tenant
from bench.documents.sizes import QUICK
from bench.environment import ROOT
from bench.job import Figures
from bench.push.load import notify
from bench.run import Run
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict
from penstock.db.tenancy import TenantPool
from penstock.model import uuid7

PACKAGES = ("penstock", "asyncpg", "fastapi", "httpx2", "uvicorn")
MOST_SECONDS = 0.2


class Notifications:
    name = "notifications"
    title = "Notifications of Outlook while mailboxes are being synced"
    columns = (
        Column("p99", "p99 ms", 1),
        Column("p50", "p50 ms", 1),
        Column("slowest", "slowest ms", 1),
        Column("cpu", "CPU ms each", 2),
        Column("sent", "sent"),
        Column("accepted", "accepted"),
        Column("syncs", "syncs"),
        Column("tasks", "sync tasks"),
        Column("items", "items synced meanwhile"),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        return [
            Verdict("p99 in ms", ours["p99"], MOST_SECONDS * 1_000, at_least=False),
            Verdict("accepted of those sent", ours["accepted"] / ours["sent"], 1),
            Verdict("items synced meanwhile", ours["items"], 1),
        ]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench push", description=__doc__)
    parser.add_argument("--rate", type=float, default=200, help="notifications a second, %(default)s")
    parser.add_argument("--seconds", type=float, default=20, help="%(default)s")
    parser.add_argument("--mailboxes", type=int, default=4, help="%(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="push", help="name of the result files")
    return parser.parse_args(words)


@contextlib.asynccontextmanager
async def child(role: str, place: Place) -> AsyncIterator[dict[str, Any]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.push.serving", role, json.dumps(dataclasses.asdict(place)),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        async with asyncio.timeout(60):
            told: dict[str, Any] = json.loads(await process.stdout.readline())
        yield told
    finally:
        process.stdin.close()
        await process.wait()


async def subscribe(place: Place, mailboxes: int) -> list[dict[str, str]]:
    """Mailboxes with a live subscription each; returns a notification of each."""
    tenant_id, _ = await make_tenant(place, place.settings())
    tenants = await TenantPool.open(place.runtime_url, application_name="bench", size=1)
    items = []
    try:
        for number in range(mailboxes):
            source_id, subscription_id, state = uuid7(), uuid7(), f"state-{number}"
            digest = hashlib.sha256(state.encode()).digest()
            async with tenants.transaction(tenant_id) as conn:
                await conn.execute(
                    "select ingest.add_source($1, 'outlook', $2, 'default', $2, '{}', null)",
                    source_id,
                    f"box {number}",
                )
                await conn.execute(
                    "select ingest.begin_subscription($1, $2, $3)", source_id, subscription_id, digest
                )
                await conn.execute(
                    "select ingest.put_subscription($1, $2, now() + interval '7 days')",
                    subscription_id,
                    f"sub-{number}",
                )
            items.append({"subscriptionId": f"sub-{number}", "clientState": state, "changeType": "created"})
    finally:
        await tenants.close()
    return items


async def measured(environment: DocumentEnvironment, options: argparse.Namespace) -> Figures:
    async with environment.place() as place, child("worker", place), child("api", place) as told:
        items = await subscribe(place, options.mailboxes)
        await notify(told["url"], items, 20, 2)  # connections, caches and plans
        async with admin(place) as connection:
            before, busy = await counts(connection), processor_seconds(told["pid"])
            answers = await notify(told["url"], items, options.rate, options.seconds)
            after, busy = await counts(connection), processor_seconds(told["pid"]) - busy
    return {
        "cpu": busy / len(answers.seconds) * 1_000,
        "p99": answers.percentile(0.99) * 1_000,
        "p50": answers.percentile(0.5) * 1_000,
        "slowest": max(answers.seconds) * 1_000,
        "sent": len(answers.seconds),
        "accepted": answers.statuses[202],
        **{name: after[name] - before[name] for name in after},
    }


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def counts(connection: Any) -> dict[str, int]:
    row = await connection.fetchrow(
        "select (select count(*) from ingest.ingestion_job) as syncs,"
        " (select count(*) from queues.task t where t.payload ? 'source_id') as tasks,"
        " (select count(*) from ingest.source_document) as items"
    )
    return dict(row)


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("push", words, options)
    rounds: dict[str, list[Figures]] = {"penstock": []}
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, QUICK)
        for number in range(options.rounds):
            figures = await measured(environment, options)
            rounds["penstock"].append(figures)
            print(f"notifications round {number + 1}: p99 {figures['p99']:.1f} ms", file=sys.stderr)
        async with environment.place() as place, admin(place) as connection:
            postgres = await connection.fetchval("show server_version")
    outcome = report.Outcome(Notifications(), rounds)
    sizes = {"rate": options.rate, "seconds": options.seconds, "mailboxes": options.mailboxes}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, [outcome])


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
