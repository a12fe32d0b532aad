"""`python -m bench scale`: measure small runs, check a prediction against another one, predict large ones."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import machine, report
from bench.documents.environment import DocumentEnvironment
from bench.documents.running_engine import admin
from bench.documents.sizes import FULL
from bench.job import Figures
from bench.scale.check import Check, foreseen, seen
from bench.scale.minilm import minilm_seconds
from bench.scale.real_run import RealRun, Shape, corpus, real_run
from bench.scale.scenario import Demand, Embedding, Week, fleet_of, least_machines, load_of, predicted, week
from bench.scale.service import Service
from bench.scale.simulator import Fleet
from bench.scale.tables import Depth, Scenarios, write_page
from bench.server import running_server

PACKAGES = ("penstock", "asyncpg", "numpy", "onnxruntime", "wordllama", "xberg")
SMALL_TENANTS = 7
CORES, DATABASE_CORES = 2.0, 4.0
"""Of the machines of the scenarios: the workers' as it was measured, the database's as one would choose."""


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000_000, help="of the prediction, %(default)s")
    parser.add_argument("--tenants", type=int, default=1_000, help="of the prediction, %(default)s")
    parser.add_argument("--days", type=int, default=7, help="in which they arrive, %(default)s")
    parser.add_argument("--embedder", default="wordllama", help="of the real runs, %(default)s")
    parser.add_argument(
        "--measured",
        type=int,
        default=70,
        help="documents of the first real run, %(default)s; others are larger",
    )
    parser.add_argument(
        "--tokens-per-minute", type=float, default=5_000_000, help="of the remote embedder, %(default)s"
    )
    parser.add_argument(
        "--latency", type=float, default=0.3, help="seconds its answers take per document, %(default)s"
    )
    parser.add_argument("--price", type=float, default=0.02, help="per million tokens, %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the prediction, %(default)s")
    parser.add_argument("--data", type=Path, help="put the temporary cluster under this directory")
    parser.add_argument("--page", action="store_true", help="only write recorded results into the page")
    parser.add_argument(
        "--name", default="scale", help="name of the result files; 'scale' also writes the page"
    )
    options = parser.parse_args(words)
    if options.tenants <= 100:
        parser.error("--tenants must be above 100: ten are large, ninety medium, the others small")
    if options.documents < 10 * options.tenants:
        parser.error("--documents must be at least ten per tenant")
    if options.measured < 10 or options.days < 1 or options.tokens_per_minute <= 0:
        parser.error("--measured must be at least 10, --days at least 1, --tokens-per-minute above 0")
    return options


def told(what: str, started: float) -> None:
    print(
        f"{what}: {time.perf_counter() - started:.1f} s, load {os.getloadavg()[0]:.1f}",
        file=sys.stderr,
        flush=True,
    )


async def run_in(environment: DocumentEnvironment, shape: Shape, embedder: str) -> RealRun:
    """A real run in a database of its own."""
    async with environment.place() as place:
        return await real_run(place, shape, embedder)


async def measured(
    environment: DocumentEnvironment, count: int, embedder: str
) -> tuple[Service, dict[str, list[Figures]]]:
    """The service times from two runs, and a third run beside its prediction."""
    cores = float(len(os.sched_getaffinity(0)))
    started = time.perf_counter()
    alone = await run_in(environment, Shape(1, 1, corpus(0, count), [0] * count, [0.0] * count), embedder)
    told("one document at a time", started)
    many = 2 * count
    started = time.perf_counter()
    busy = await run_in(environment, Shape(1, 5, corpus(count, many), [0] * many, [0.0] * many), embedder)
    told("five at a time", started)
    service = Service.measured(alone, busy, Fleet(cores=cores))
    started = time.perf_counter()
    # The flood takes as long as the second run did; the small tenants come during most of it.
    later = [0.8 * busy.seconds * (number + 1) / count for number in range(count)]
    shape = Shape(
        workers=2,
        slots=3,
        files=corpus(3 * count, 3 * count),
        tenants=[0] * many + [1 + number % SMALL_TENANTS for number in range(count)],
        offsets=[0.0] * many + later,
    )
    fleet = Fleet(workers=2, slots=3, reserve=3, cores=cores)
    runs = service.runs(fleet, shape.at, shape.tenant)
    found = await run_in(environment, shape, embedder)
    told("two workers, a flood and small tenants", started)
    return service, {"measured": [seen(found)], "predicted": [foreseen(runs)]}


def embeddings(options: argparse.Namespace, minilm: float | None) -> list[Embedding]:
    remote = Embedding(
        f"remote, {options.tokens_per_minute / 1e6:g} M tokens/min",
        tokens_per_minute=options.tokens_per_minute,
        latency=options.latency,
        price=options.price,
        slots=20,
    )
    local = [Embedding("wordllama")]
    return [*local, *([] if minilm is None else [Embedding("MiniLM", seconds_per_token=minilm)]), remote]


def scenarios(
    arriving: Week, service: Service, demand: Demand, wanted: Sequence[Embedding]
) -> tuple[dict[str, list[Figures]], dict[str, list[Figures]]]:
    """Each embedder with as many machines as keep up with the week, and with twice as many."""
    figures: dict[str, list[Figures]] = {}
    depths: dict[str, list[Figures]] = {}
    for embedding in wanted:
        load = load_of(arriving, service, embedding, demand.seed)
        least = least_machines(load, demand.days, CORES)
        for machines in (least, 2 * least):
            started = time.perf_counter()
            case = f"{embedding.name}, {machines}"
            fleet = fleet_of(embedding, machines, CORES, DATABASE_CORES)
            found, depth = predicted(fleet, load, demand, embedding)
            figures[case], depths[case] = [found], [depth]
            told(f"{case}: {len(load):,} jobs simulated", started)
    return figures, depths


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    if options.page:
        write_page(report.RESULTS)
        return 0
    started = datetime.datetime.now(datetime.UTC)
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench scale", *words]),
        "machine": machine.describe(options.data),
    }
    demand = Demand(options.documents, options.tenants, options.days, options.seed)
    async with running_server(options.data) as server:
        environment = DocumentEnvironment(server, FULL)
        async with environment.place() as place, admin(place) as connection:
            postgres = await connection.fetchval("show server_version")
        service, checked = await measured(environment, options.measured, options.embedder)
    minilm = await minilm_seconds(corpus(0, options.measured))
    facts["versions"] = machine.versions(PACKAGES, postgres)
    facts["server settings"] = server.settings
    facts["milliseconds of a document"] = {
        "parse": round(1_000 * float(service.parse.mean()), 2),
        "embed": round(1_000 * float(service.embed.mean()), 2),
        "index": round(1_000 * float(service.index.mean()), 2),
        "waiting": round(1_000 * float(service.latency.mean()), 2),
        "intake": round(1_000 * service.intake, 2),
    }
    facts["other programs at the processors"] = round(service.others, 2)
    facts["a document"] = {
        "tokens": round(float(service.tokens.mean()), 1),
        "chunks": round(float(service.chunks.mean()), 1),
    }
    facts["MiniLM, ms per document"] = None if minilm is None else round(minilm * 1_000, 1)
    facts["demand"] = dataclasses.asdict(demand)
    facts["assumed"] = {
        "cores of a machine": CORES,
        "cores of the database": DATABASE_CORES,
        "remote latency s": options.latency,
        "price per million tokens": options.price,
    }
    arriving = week(demand)
    per_token = None if minilm is None else minilm / float(service.tokens.mean())
    figures, depths = scenarios(arriving, service, demand, embeddings(options, per_token))
    facts["seconds"] = round((datetime.datetime.now(datetime.UTC) - started).total_seconds())
    outcomes = [
        report.Outcome(Check(), checked),
        report.Outcome(Scenarios(), figures),
        report.Outcome(Depth(), depths),
    ]
    path = report.write(options.name, facts, outcomes)
    if options.name == "scale":
        write_page(report.RESULTS)
    report.show(path.read_text())
    return 0 if all(verdict.passed for outcome in outcomes for verdict in outcome.verdicts) else 1


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
