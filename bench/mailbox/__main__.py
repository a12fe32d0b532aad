"""`python -m bench mailbox`: how soon the attachment of a mail that arrives is found."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.running_engine import admin
from bench.documents.sizes import QUICK
from bench.job import Figures
from bench.mailbox.arriving import PARTS, arrivals, figures
from bench.mailbox.services import mail_services
from bench.run import Run
from bench.server import running_server
from bench.workloads import Column, Medians, Verdict

PACKAGES = ("penstock", "asyncpg", "fastapi", "httpx2", "uvicorn", "uvloop")
MOST_SECONDS = 3.0
HEADINGS = {
    "notified": "until its sync is enqueued",
    "begun": "until the sync begins",
    "taken": "until the file is taken in",
    "indexed": "until it is indexed",
    "found": "until it is found",
}


class Arriving:
    name = "arriving"
    title = (
        "A mail arrives in Outlook and its attachment is found; API, worker and simulators in three processes"
    )
    columns = (
        Column("p95", "p95 s", 2),
        Column("p50", "p50 s", 2),
        Column("slowest", "slowest s", 2),
        Column("mails", "mails"),
        *(Column(part, f"{HEADINGS[part]}, p50 ms") for part in PARTS),
        *(Column(f"{part}_p95", f"{HEADINGS[part]}, p95 ms") for part in PARTS),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        return [Verdict("p95 in s", medians["penstock"]["p95"], MOST_SECONDS, at_least=False)]


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench mailbox", description=__doc__)
    parser.add_argument("--mails", type=int, default=50, help="%(default)s")
    parser.add_argument("--rounds", type=int, default=1, help="%(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", default="mailbox", help="name of the result files")
    return parser.parse_args(words)


async def measured(environment: DocumentEnvironment, mails: int) -> Figures:
    async with environment.place() as place, mail_services(place) as here:
        return figures(await arrivals(here, mails))


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    record = Run("mailbox", words, options)
    rounds: dict[str, list[Figures]] = {"penstock": []}
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, QUICK)
        for number in range(options.rounds):
            found = await measured(environment, options.mails)
            rounds["penstock"].append(found)
            print(f"arriving round {number + 1}: p95 {found['p95']:.2f} s", file=sys.stderr)
        async with environment.place() as place, admin(place) as connection:
            postgres = await connection.fetchval("show server_version")
    outcome = report.Outcome(Arriving(), rounds)
    sizes = {"mails": options.mails, "rounds": options.rounds}
    return record.end(server, machine.versions(PACKAGES, postgres), sizes, [outcome])


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
