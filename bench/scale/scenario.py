"""Ten million documents of a thousand tenants in a week: what arrives, on what it runs, what comes out."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from bench.job import Figures
from bench.scale.service import Service
from bench.scale.simulator import Fleet, Floats, Integers, Load, Outcome, quantile, simulate

HOUR = 3_600.0
DAY = 24 * HOUR
CLASSES = {"large": (0, 10), "medium": (10, 100), "small": (100, None)}
"""Tenants by how many documents they have: the first ten, the next ninety, the others."""
IMPORTED = 0.5
"""The share of a tenant's documents that was there before: it comes at once when the tenant begins."""
IMPORT_DAYS = 2
"""All tenants begin in the first days."""
IMPORT_JOB, FLOW_JOB = 50, 20
"""Documents per simulated job."""
BUSY_HOURS = (8, 18)
NIGHT = 0.1
"""What arrives in an hour outside the busy ones, of what arrives in a busy one."""
DEEP = 10_000
DEPTH_HOURS = (6, 12, 24, 36, 48, 72, 120, 168)


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """What is asked for: how much, by how many, and what embedding costs."""

    documents: int = 10_000_000
    tenants: int = 1_000
    days: int = 7
    seed: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Embedding:
    """How chunks get their vectors, beyond what the measured worker spends on them."""

    name: str
    seconds_per_token: float = 0.0
    """Processor time of a local model."""
    tokens_per_minute: float | None = None
    latency: float = 0.0
    """Seconds a document waits for answers of a remote embedder, apart from its rate limit."""
    price: float = 0.0
    """Per million tokens."""
    slots: int = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Week:
    """What arrives, in jobs: the number of documents, when, whose, and whether all at once."""

    at: Floats
    tenant: Integers
    documents: Integers
    imported: Integers


def week(demand: Demand) -> Week:
    """Documents are spread over tenants by Zipf's law: the second has half as many as the first."""
    random = np.random.default_rng(demand.seed)
    weights = 1 / np.arange(1, demand.tenants + 1)
    owned = np.maximum(1, np.round(demand.documents * weights / weights.sum())).astype(np.int64)
    begins = random.uniform(0, min(IMPORT_DAYS, demand.days) * DAY, demand.tenants)
    parts = []
    for tenant, (count, begin) in enumerate(zip(owned.tolist(), begins, strict=True)):
        first = round(count * IMPORTED)
        for imported, part, size in ((1, first, IMPORT_JOB), (0, count - first, FLOW_JOB)):
            jobs = math.ceil(part / size)
            held = np.full(jobs, size)
            if jobs:
                held[-1] = part - size * (jobs - 1)
            at = np.full(jobs, begin) if imported else _working_hours(random, jobs, demand.days)
            parts.append((at, np.full(jobs, tenant), held, np.full(jobs, imported)))
    at, tenants, documents, imports = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(at, kind="stable")
    return Week(at[order], tenants[order], documents[order], imports[order])


def _working_hours(random: np.random.Generator, count: int, days: int) -> Floats:
    hours = np.where((np.arange(24) >= BUSY_HOURS[0]) & (np.arange(24) < BUSY_HOURS[1]), 1.0, NIGHT)
    hour = random.choice(24, count, p=hours / hours.sum())
    at: Floats = (random.integers(0, days, count) * 24 + hour + random.random(count)) * HOUR
    return at


def load_of(arriving: Week, service: Service, embedding: Embedding, seed: int) -> Load:
    """Every document of a job is drawn from the measured ones."""
    random = np.random.default_rng(seed)
    columns = np.column_stack(
        (
            service.parse,
            service.embed + service.tokens * embedding.seconds_per_token,
            service.index,
            service.latency + embedding.latency,
            service.tokens,
        )
    )
    sums = np.empty((len(arriving.at), columns.shape[1]))
    for size in np.unique(arriving.documents):
        these = np.flatnonzero(arriving.documents == size)
        for some in np.array_split(these, max(1, len(these) * int(size) // 500_000)):
            drawn = random.integers(0, len(columns), (len(some), int(size)))
            sums[some] = columns[drawn].sum(axis=1)
    parse, embed, index, latency, tokens = sums.T
    intake: Floats = arriving.documents * np.float64(service.intake)
    together = arriving.imported.astype(bool)
    return Load(
        arriving.at,
        arriving.tenant,
        arriving.documents,
        intake,
        parse,
        embed,
        index,
        latency,
        tokens,
        together,
    )


def least_machines(load: Load, days: int, cores: float, busy: float = 0.85) -> int:
    """How many keep up with the week as a whole."""
    return max(1, math.ceil(float((load.parse + load.embed).sum()) / (days * DAY * cores * busy)))


def fleet_of(embedding: Embedding, machines: int, cores: float, database_cores: float) -> Fleet:
    """One worker per machine, as it was measured, and the database on its own; they do nothing else."""
    rate = embedding.tokens_per_minute
    return Fleet(
        workers=machines,
        machines=machines,
        slots=embedding.slots,
        reserve=embedding.slots,
        cores=cores,
        database_cores=database_cores,
        tokens_per_second=None if rate is None else rate / 60,
    )


def predicted(fleet: Fleet, load: Load, demand: Demand, embedding: Embedding) -> tuple[Figures, Figures]:
    """The figures of a scenario, and its depth after some hours."""
    found = simulate(fleet, load)
    hours = max(found.seconds, demand.days * DAY) / HOUR
    minutes = np.arange(0, hours * HOUR, 60.0)
    depth = found.depth(minutes)
    assert fleet.database_cores is not None
    figures: Figures = {
        "machines": fleet.machines,
        "end_hours": found.seconds / HOUR,
        "deepest": float(depth.max()),
        "deep_hours": float((depth > DEEP).sum() / 60),
        **_delays(found),
        "machine_hours": fleet.machines * hours,
        "busy": found.machines_work / (fleet.machines * fleet.cores * hours * HOUR),
        "database_busy": found.database_work / (fleet.database_cores * hours * HOUR),
        "tokens": float(load.tokens.sum()),
        "token_cost": float(load.tokens.sum()) / 1_000_000 * embedding.price,
    }
    after = found.depth(np.array([hour * HOUR for hour in DEPTH_HOURS]))
    return figures, {f"after_{hour}": value for hour, value in zip(DEPTH_HOURS, after.tolist(), strict=True)}


def _delays(found: Outcome) -> Figures:
    """p50 and p95 of what arrives day by day, by class of tenant, and of what is imported."""
    figures: Figures = {}
    load, delay = found.load, found.delay
    for name, (first, last) in CLASSES.items():
        chosen = ~load.together & (load.tenant >= first)
        if last is not None:
            chosen &= load.tenant < last
        for part in (50, 95):
            figures[f"{name}_p{part}"] = quantile(delay[chosen], load.documents[chosen], part / 100)
    figures["import_p95"] = quantile(delay[load.together], load.documents[load.together], 0.95)
    return figures
