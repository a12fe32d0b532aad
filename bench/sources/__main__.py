"""`python -m bench sources`: 10,000 HubSpot contacts into documents and clients, beside a bare loop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.running_engine import admin
from bench.documents.sizes import QUICK
from bench.environment import ROOT
from bench.job import Figures
from bench.run import Run, in_turn, set_ratios
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict

PACKAGES = ("penstock", "asyncpg", "mcp", "httpx2", "uvloop")
PATIENCE_SECONDS = 900
SMALL = 10
"""The memory of a sync is compared with that of one with a tenth of the contacts."""


GOAL = "of the bare loop's rate (a goal)"
"""Recorded and judged like the others, but missing it is not an error."""


class Contacts:
    name = "contacts"
    title = "HubSpot contacts from a simulator on loopback, over MCP"
    columns = (
        Column("rate", "items/s"),
        Column("seconds", "s", 2),
        Column("items", "items"),
        Column("texts", "texts embedded"),
        Column("again_rate", "unchanged, items/s"),
        Column("again_texts", "unchanged, embedded"),
        Column("faster", "times as fast unchanged", 1),
        Column("own_cpu", "own processor s", 2),
        Column("server_cpu", "server's", 2),
        Column("again_own_cpu", "unchanged, own", 2),
        Column("again_server_cpu", "unchanged, server's", 2),
        Column("peak_mib", "peak MiB"),
        Column("ratio", "of the bare loop's rate", 2),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        ours, small = medians["penstock"], medians["penstock, a tenth"]
        return [
            Verdict("items a second", ours["rate"], 250),
            Verdict(GOAL, ours["ratio"], 0.5),
            Verdict("texts embedded in an unchanged sync", ours["again_texts"], 0, at_least=False),
            Verdict("times as fast unchanged", ours["faster"], 5),
            Verdict("peak memory against a tenth", ours["peak_mib"] / small["peak_mib"], 1.2, at_least=False),
        ]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench sources", description=__doc__)
    parser.add_argument("--contacts", type=int, default=10_000, help="%(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="sources", help="name of the result files")
    return parser.parse_args(words)


@contextlib.asynccontextmanager
async def simulated(contacts: int) -> AsyncIterator[dict[str, Any]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.sources.providers", str(contacts),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, limit=1_048_576,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        async with asyncio.timeout(60):
            told = json.loads(await process.stdout.readline())
        yield told
    finally:
        process.stdin.close()
        await process.wait()


async def measured(environment: DocumentEnvironment, role: str, contacts: int) -> Figures:
    """The figures of a child with a database to itself, and a simulator to itself."""
    async with environment.place() as place, simulated(contacts) as told:
        job = json.dumps({"place": dataclasses.asdict(place), "told": told})
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.sources.syncing", role, job, stdout=asyncio.subprocess.PIPE, cwd=ROOT
        )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, _ = await child.communicate()
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        if child.returncode:
            raise SystemExit(f"The {role} child ended with {child.returncode}.")
        figures: Figures = json.loads(out.splitlines()[-1])
        return figures


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("sources", words, options)
    cases = {
        "penstock": ("sync", options.contacts),
        "penstock, a tenth": ("sync", options.contacts // SMALL),
        "bare loop": ("bare", options.contacts),
    }
    rounds: dict[str, list[Figures]] = {case: [] for case in cases}
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, QUICK)
        for number, case in in_turn(list(cases), options.rounds):
            figures = await measured(environment, *cases[case])
            rounds[case].append(figures)
            print(f"contacts round {number} {case}: {figures['rate']:,.0f} items/s", file=sys.stderr)
        async with environment.place() as place, admin(place) as connection:
            postgres = await connection.fetchval("show server_version")
    set_ratios(rounds, "bare loop")
    outcome = report.Outcome(Contacts(), rounds)
    sizes = {"contacts": options.contacts, "rounds": options.rounds}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, [outcome], goals=[GOAL])


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
