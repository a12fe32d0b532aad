"""`python -m bench messages`: emails by the whole supervised path, beside loops that only send them."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.running_engine import admin
from bench.documents.sizes import QUICK
from bench.job import Figures
from bench.messages.sending import bare, supervised
from bench.run import Run, in_turn, set_ratios
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict

PACKAGES = ("penstock", "asyncpg", "aiosmtplib", "aiosmtpd", "uvloop")
LOOPS = {"bare loop": 1, "bare loop, 4 connections": 4}


class Emails:
    name = "emails"
    title = "Emails to a mail server on loopback"
    columns = (
        Column("rate", "messages/s"),
        Column("seconds", "s", 2),
        Column("facts", "success facts"),
        Column("taken", "taken by the server"),
        Column("ratio", "of the bare loop's rate", 2),
    )

    def __init__(self, messages: int) -> None:
        self._messages = messages

    def judge(self, medians: Medians) -> list[Verdict]:
        ours = medians["penstock"]
        return [
            Verdict("success facts a second", ours["rate"], 100),
            Verdict("success facts a message", ours["facts"] / self._messages, 1.0),
            Verdict("attempts a message", ours["attempts"] / self._messages, 1.0, at_least=False),
            Verdict("messages the server took once", ours["distinct"] / ours["taken"], 1.0),
        ]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench messages", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000, help="%(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="messages", help="name of the result files")
    return parser.parse_args(words)


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("messages", words, options)
    rounds: dict[str, list[Figures]] = {case: [] for case in ("penstock", *LOOPS)}
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, QUICK)
        for number, case in in_turn(list(rounds), options.rounds):
            if case in LOOPS:
                figures = await bare(options.messages, LOOPS[case])
            else:
                async with environment.place() as place, admin(place) as connection:
                    postgres = await connection.fetchval("show server_version")
                    figures = await supervised(place, options.messages)
            rounds[case].append(figures)
            print(f"emails round {number} {case}: {figures['rate']:,.0f} messages/s", file=sys.stderr)
    set_ratios(rounds, "bare loop")
    outcome = report.Outcome(Emails(options.messages), rounds)
    sizes = {"messages": options.messages, "rounds": options.rounds}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, [outcome])


def main(words: Sequence[str]) -> int:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `penstock worker` has it
        return runner.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
