"""`python -m bench inlets`: messages of pgmq into tasks, beside a loop that only reads and archives."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import uvloop

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.place import Place
from bench.documents.sizes import QUICK
from bench.inlets.moving import moved, read_and_archived, taken_in
from bench.job import Figures
from bench.run import Run, in_turn, set_ratios
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict

PACKAGES = ("penstock", "asyncpg", "pgmq", "uvloop")
CASES = ("penstock", "penstock, two movers", "penstock, by the ledger", "pgmq read + archive")
LEAST_RATE = 10_000


class Inlets:
    name = "inlets"
    title = "Messages of pgmq made tasks"
    columns = (
        Column("rate", "messages/s"),
        Column("seconds", "s", 2),
        Column("tasks", "tasks"),
        Column("distinct", "of different messages"),
        Column("ratio", "of pgmq's own loop", 2),
    )

    def __init__(self, messages: int) -> None:
        self._messages = messages

    def judge(self, medians: Medians) -> list[Verdict]:
        best = max(medians["penstock"]["rate"], medians["penstock, two movers"]["rate"])
        return [
            Verdict("messages moved a second", best, LEAST_RATE),
            *(
                Verdict(f"tasks a message ({case})", medians[case]["tasks"] / self._messages, 1.0)
                for case in CASES[:3]
            ),
            *(
                Verdict(
                    f"different messages a message ({case})", medians[case]["distinct"] / self._messages, 1.0
                )
                for case in CASES[:3]
            ),
        ]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench inlets", description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000, help="%(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="inlets", help="name of the result files")
    return parser.parse_args(words)


async def measure(case: str, place: Place, messages: int) -> Figures:
    match case:
        case "pgmq read + archive":
            return await read_and_archived(place, messages)
        case "penstock, by the ledger":
            return await taken_in(place, messages)
        case "penstock, two movers":
            return await moved(place, messages, 2)
        case _:
            return await moved(place, messages, 1)


async def _version(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval("show server_version"))
    finally:
        await connection.close()


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("inlets", words, options)
    rounds: dict[str, list[Figures]] = {case: [] for case in CASES}
    async with running_server(options.data) as server:
        postgres = await _version(server.url())
        environment = DocumentEnvironment(server, QUICK)
        for number, case in in_turn(CASES, options.rounds):
            async with environment.place() as place:
                figures = await measure(case, place, options.messages)
            rounds[case].append(figures)
            print(f"inlets round {number} {case}: {figures['rate']:,.0f} messages/s", file=sys.stderr)
    set_ratios(rounds, "pgmq read + archive")
    outcome = report.Outcome(Inlets(options.messages), rounds)
    sizes = {"messages": options.messages, "rounds": options.rounds}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, [outcome])


def main(words: Sequence[str]) -> int:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `penstock worker` has it
        return runner.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
