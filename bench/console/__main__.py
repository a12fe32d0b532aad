"""`python -m bench console`: the calls of the console on a million tasks and 100,000 documents."""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import asyncpg

from bench import machine, report
from bench.console.browser import Lists, lists_in_a_browser
from bench.console.calls import CALLS, callers, is_for, previews_of, shown_calls
from bench.console.filling import fill
from bench.job import Figures
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict
from penstock.accounts import Accounts
from penstock.api import ConnectionLimits, create_app, listen, server
from penstock.db.connect import connect
from penstock.db.tenancy import TenantPool
from penstock.engine.engine import Engine
from penstock.settings import Settings

if TYPE_CHECKING:
    import httpx2

PACKAGES = ("penstock", "asyncpg", "fastapi", "uvicorn")
CALL_MS = 300.0
ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4,}[0-9.]*"
STATEMENT_MS = 200.0
STATEMENTS = """
select max(s.max_exec_time) from pg_stat_statements s
join pg_roles r on r.oid = s.userid
where r.rolname in ('penstock_runtime', 'penstock_operator')
"""
SLOWEST = """
select round(s.max_exec_time::numeric, 1)::text || ' ms ' || left(s.query, 120) from pg_stat_statements s
join pg_roles r on r.oid = s.userid
where r.rolname in ('penstock_runtime', 'penstock_operator')
order by s.max_exec_time desc limit 10
"""


class Answers:
    name = "console"
    title = "The console's calls"
    columns = (Column("max_ms", "slowest, ms", 1), Column("p50_ms", "p50, ms", 1), Column("bytes", "bytes"))

    def __init__(self, statement_ms: float) -> None:
        self._statement_ms = statement_ms

    def judge(self, medians: Medians) -> list[Verdict]:
        slowest = max(figures["max_ms"] for figures in medians.values())
        return [
            Verdict("Slowest answer, ms", slowest, CALL_MS, at_least=False),
            Verdict("Slowest statement, ms", self._statement_ms, STATEMENT_MS, at_least=False),
        ]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench console", description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000_000, help="%(default)s")
    parser.add_argument("--documents", type=int, default=100_000, help="%(default)s")
    parser.add_argument("--repeats", type=int, default=5, help="times each call is made, %(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="console", help="name of the result files")
    parser.add_argument("--fill", metavar="URL", help="only fill this migrated database, as its superuser")
    parser.add_argument("--tenant", default="acme", help="slug of the tenant to fill, %(default)s")
    return parser.parse_args(words)


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    if options.fill:
        admin = await connect(options.fill, application_name="bench")
        tenant_id = await admin.fetchval(
            "select tenant_id from accounts.tenant where slug = $1", options.tenant
        )
        await fill(admin, tenant_id, tasks=options.tasks, documents=options.documents)
        await admin.close()
        return 0
    started = datetime.datetime.now(datetime.UTC)
    async with running_server(options.data) as embedded:
        settings = Settings(data_dir=embedded.data_dir, requests_per_minute=1_000_000)
        async with Engine(settings) as engine:
            rounds, lists, statement_ms, postgres = await measure(engine, options)
    outcomes = [report.Outcome(Answers(statement_ms), rounds)]
    if lists:
        outcomes.append(report.Outcome(Lists(), lists))
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench console", *words]),
        "machine": machine.describe(options.data),
        "versions": machine.versions(PACKAGES, postgres),
        "sizes": {"tasks": options.tasks, "documents": options.documents, "repeats": options.repeats},
        "seconds": round((datetime.datetime.now(datetime.UTC) - started).total_seconds()),
    }
    path = report.write(options.name, facts, outcomes)
    report.show(path.read_text())
    return 0 if all(verdict.passed for outcome in outcomes for verdict in outcome.verdicts) else 1


async def measure(
    engine: Engine, options: argparse.Namespace
) -> tuple[dict[str, list[Figures]], dict[str, list[Figures]], float, str]:
    """Fill, serve, make every call several times as both callers, and look at the lists in a browser."""
    addresses = engine.tasks.addresses
    admin: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(addresses.admin)
    operators = await TenantPool.open(addresses.operator, application_name="bench", size=1)
    accounts = Accounts(operators, engine.settings)
    tenant = await accounts.create_tenant(options.tenant)
    key = await accounts.create_key(tenant.tenant_id, "bench", ("admin",))
    began = perf_counter()
    await fill(admin, tenant.tenant_id, tasks=options.tasks, documents=options.documents)
    print(f"filled in {perf_counter() - began:.0f} s", file=sys.stderr)
    await admin.execute("select queues.take_samples()")
    await admin.execute("create extension if not exists pg_stat_statements")
    for login in ("penstock_runtime", "penstock_operator"):
        await admin.execute(f"alter role {login} set pg_stat_statements.track = 'top'")
    rounds: dict[str, list[Figures]] = {}
    with listen("127.0.0.1", 0) as listening:
        running = server(create_app(engine), grace_seconds=2, limits=ConnectionLimits.of(engine.settings))
        serving = asyncio.create_task(running.serve([listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with callers(url, addresses.operator, key.secret) as clients:
            await clients["tenant"].get("/v1/search?q=warm")  # the first search loads the model
            for who, client in clients.items():
                wanted = [*CALLS, *await shown_calls(client)]
                for path in wanted:
                    if is_for(who, path):
                        name = f"{who} {re.sub(ID, 'N', path)}"
                        took = await timed(client, path, options.repeats)
                        print(f"{name}: {took['max_ms']:.0f} ms", file=sys.stderr)
                        # Two documents, for example, have one name: the slower one counts.
                        rounds[name] = [max([took, *rounds.get(name, [])], key=lambda each: each["max_ms"])]
                for action, chosen in previews_of(who):
                    name = f"{who} preview {action} {json.dumps(chosen)}"
                    body = {"action": action, "filter": chosen}
                    path = "/v1/operations/preview"
                    rounds[name] = [await timed(client, path, options.repeats, body)]
                    print(f"{name}: {rounds[name][0]['max_ms']:.0f} ms", file=sys.stderr)
        lists = await lists_in_a_browser(url, addresses.operator, options.tenant, options.repeats)
        running.stop()
        await serving
    statement_ms = float(await admin.fetchval(STATEMENTS) or 0)
    for row in await admin.fetch(SLOWEST):
        print(row[0], file=sys.stderr)
    postgres = str(await admin.fetchval("show server_version"))
    await operators.close()
    await admin.close()
    return rounds, lists, statement_ms, postgres


async def timed(
    client: httpx2.AsyncClient, path: str, repeats: int, body: Mapping[str, object] | None = None
) -> Figures:
    taken = []
    size = 0
    for _ in range(repeats):
        began = perf_counter()
        answer = await client.request("GET" if body is None else "POST", path, json=body)
        taken.append((perf_counter() - began) * 1_000)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
        size = len(answer.content)
    return {"max_ms": max(taken), "p50_ms": statistics.median(taken), "bytes": size}


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
