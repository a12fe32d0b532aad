"""Service times taken from runs predict other runs, and a week of many tenants is what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from bench.scale.check import Check, foreseen, seen
from bench.scale.real_run import RealRun, Seen
from bench.scale.scenario import Demand, Embedding, fleet_of, least_machines, load_of, predicted, week
from bench.scale.service import Service
from bench.scale.simulator import Fleet, Integers, Outcome, simulate

TRUE = Service(
    parse=np.array([0.01, 0.03, 0.05, 0.11]),
    embed=np.array([0.02, 0.02, 0.04, 0.08]),
    index=np.array([0.01, 0.02, 0.02, 0.03]),
    latency=np.full(4, 0.01),
    tokens=np.array([100.0, 300.0, 500.0, 1_100.0]),
    chunks=np.array([1.0, 2.0, 3.0, 7.0]),
    intake=0.004,
)


def as_run(outcome: Outcome) -> RealRun:
    """What a real run that went like this would have recorded."""
    load = outcome.load
    parse = (outcome.end - outcome.start) * load.parse / (load.parse + load.embed + load.index)
    times = (outcome.ready, outcome.start, outcome.start + parse, outcome.end)
    rows = zip(load.tenant.tolist(), *(column.tolist() for column in times), strict=True)
    return RealRun(
        seen=tuple(
            Seen(tenant, arrived, began, embedding, indexed, chunks=2, tokens=500)
            for tenant, arrived, began, embedding, indexed in rows
        ),
        worker_seconds=float((load.parse + load.embed).sum()),
        database_seconds=float(load.index.sum()),
        intake_seconds=TRUE.intake,
    )


def ran(fleet: Fleet, tenant: Integers) -> Outcome:
    return simulate(fleet, TRUE.single(np.zeros(len(tenant)), tenant, seed=5))


@pytest.mark.parametrize("others", [0.0, 3.0])
def test_two_runs_predict_a_third_of_another_shape(others: float) -> None:
    """Also on a machine that has other work, whose share depends on how many of ours want it."""
    one = np.zeros(24, np.int64)
    alone = as_run(ran(Fleet(slots=1, reserve=0, others=others), one))
    busy = as_run(ran(Fleet(slots=5, others=others), np.zeros(48, np.int64)))
    found = Service.measured(alone, busy, Fleet(slots=5))
    shape = Fleet(workers=2, slots=3, reserve=3)
    tenant = np.arange(60) % 4
    actual = ran(Fleet(workers=2, slots=3, reserve=3, others=others), tenant)
    guessed = foreseen(found.runs(shape, np.zeros(60), tenant))
    judged = Check().judge({"measured": seen(as_run(actual)), "predicted": guessed})
    assert [verdict.claim for verdict in judged if verdict.measured > 0.15] == []


def test_a_week_has_every_document_once_and_keeps_its_seed() -> None:
    demand = Demand(documents=20_000, tenants=50, days=3)
    arriving = week(demand)
    assert arriving.documents.sum() == pytest.approx(20_000, abs=50)
    assert set(arriving.tenant) == set(range(50))
    assert (np.diff(arriving.at) >= 0).all()
    assert (week(demand).at == arriving.at).all()


def test_twice_the_machines_make_the_queue_shallower_and_small_tenants_wait_less_than_large_ones() -> None:
    demand = Demand(documents=60_000, tenants=150, days=1)
    slow = Embedding("slow", seconds_per_token=0.004, price=0.02)
    load = load_of(week(demand), TRUE, slow, seed=1)
    least = least_machines(load, demand.days, 2.0)
    few, _ = predicted(fleet_of(slow, least, 2.0, 4.0), load, demand, slow)
    many, _ = predicted(fleet_of(slow, 2 * least, 2.0, 4.0), load, demand, slow)
    assert many["deepest"] < few["deepest"]
    assert few["small_p95"] < few["large_p95"]
    assert few["token_cost"] == pytest.approx(60_000 * 500 / 1e6 * 0.02, rel=0.05)
    assert few["busy"] <= 1
