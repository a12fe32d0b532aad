"""`python -m bench`: measure every workload of the queue on one server, write the results, judge them."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import asyncpg

from bench import machine, report, systems, workloads
from bench.environment import Environment
from bench.job import Figures
from bench.plan import FULL, QUICK, Plan
from bench.server import running_server
from bench.systems import Setting


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="workload", help=", ".join(workloads.NAMES))
    parser.add_argument("--systems", default=",".join(systems.NAMES), help="comma-separated, %(default)s")
    parser.add_argument("--rounds", type=int, help="rounds of each workload")
    parser.add_argument("--tasks", type=int, help="tasks of each counted workload")
    parser.add_argument("--quick", action="store_true", help="a small version of everything")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SYSTEM.KEY=VALUE", help="try a setting"
    )
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", help="name of the result files, instead of latest, quick or the workloads'")
    return parser.parse_args()


def chosen_plan(options: argparse.Namespace) -> Plan:
    plan = QUICK if options.quick else FULL
    if options.tasks:
        plan = plan.with_tasks(options.tasks)
    return dataclasses.replace(plan, rounds=options.rounds) if options.rounds else plan


def result_name(options: argparse.Namespace) -> str:
    """Only a whole run of every system may replace the latest results."""
    if options.name:
        return str(options.name)
    if options.workloads:
        return "-".join(options.workloads)
    whole = not (options.quick or options.tasks or options.rounds or options.set)
    return "latest" if whole and set(systems.NAMES) <= set(options.systems.split(",")) else "quick"


def parse_overrides(pairs: Sequence[str]) -> dict[str, dict[str, Setting]]:
    overrides: dict[str, dict[str, Setting]] = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        system, _, key = name.partition(".")
        words: dict[str, Setting] = {"true": True, "false": False}
        value = words.get(text.lower(), int(text) if text.isdigit() else text)
        overrides.setdefault(system, {})[key] = value
    return overrides


async def measure(
    workload: workloads.Workload, environment: Environment, names: Sequence[str]
) -> report.Outcome | None:
    cases = workload.cases(names)
    rounds: dict[str, list[Figures]] = {case: [] for case in cases}
    for number in range(min(environment.plan.rounds, workload.most_rounds)):
        turn = number % len(cases) if cases else 0
        for case in cases[turn:] + cases[:turn]:
            figures = await workload.measure(environment, case)
            rounds[case].append(figures)
            lead = workload.columns[0]
            told = f"{figures[lead.key]:,.{lead.digits}f} {lead.heading}"
            print(f"{workload.name} round {number + 1} {case}: {told}", file=sys.stderr, flush=True)
    return report.Outcome(workload, rounds) if cases else None


async def run(options: argparse.Namespace) -> int:
    names = options.systems.split(",")
    for name in names:
        systems.require(name)
    picked = options.workloads or workloads.NAMES
    if unknown := set(picked) - set(workloads.NAMES):
        raise SystemExit(
            f"There is no workload {', '.join(unknown)}; choose from {', '.join(workloads.NAMES)}."
        )
    plan, overrides = chosen_plan(options), parse_overrides(options.set)
    started = datetime.datetime.now(datetime.UTC)
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "machine": machine.describe(options.data),
    }
    outcomes = []
    async with running_server(options.data) as server:
        environment = Environment(server, plan, overrides)
        facts |= await describe(environment, names)
        for name in picked:
            workload: workloads.Workload = importlib.import_module(f"bench.workloads.{name}").WORKLOAD
            if outcome := await measure(workload, environment, names):
                outcomes.append(outcome)
    facts["seconds"] = round((datetime.datetime.now(datetime.UTC) - started).total_seconds())
    path = report.write(result_name(options), facts, outcomes)
    report.show(path.read_text())
    return 0 if all(verdict.passed for outcome in outcomes for verdict in outcome.verdicts) else 1


async def describe(environment: Environment, names: Sequence[str]) -> Mapping[str, object]:
    connection = await asyncpg.connect(environment.server.url())
    postgres = await connection.fetchval("show server_version")
    await connection.close()
    measured = {name: environment.system(name) for name in names}
    packages = [package for system in measured.values() for package in system.packages]
    return {
        "versions": machine.versions(packages, postgres),
        "server settings": environment.server.settings,
        **{f"{name} settings": dict(system.settings) for name, system in measured.items()},
        "sizes": dataclasses.asdict(environment.plan),
    }


OWN_OPTIONS = (
    *(
        "console",
        "documents",
        "fusion",
        "inlets",
        "mail",
        "mailbox",
        "messages",
        "push",
        "qdrant",
        "reading",
        "scale",
    ),
    *("search", "sources"),
)
"""Benchmarks with options of their own: `python -m bench NAME …` runs `bench.NAME`."""


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in OWN_OPTIONS:
        code: int = importlib.import_module(f"bench.{name}.__main__").main(sys.argv[2:])
        return code
    return asyncio.run(run(arguments()))


if __name__ == "__main__":
    sys.exit(main())
