"""The simulator of `bench/scale` gives the answers of queueing theory, and shares as the queue does."""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np
import pytest

from bench.scale.simulator import Fleet, Floats, Integers, Load, Outcome, quantile, simulate


def load(at: Floats, parse: Floats, tenant: Integers | None = None, **given: Floats) -> Load:
    """Single documents that only parse, unless more is given."""
    count = len(at)
    none = np.zeros(count)
    made = Load(
        at=at,
        tenant=np.zeros(count, np.int64) if tenant is None else tenant,
        documents=np.ones(count, np.int64),
        intake=none,
        parse=parse,
        embed=none,
        index=none,
        latency=none,
        tokens=none,
        together=np.ones(count, bool),
    )
    return dataclasses.replace(made, **given)  # type: ignore[arg-type]  # all of them are arrays of floats


def exponential(mean: float, count: int, seed: int) -> Floats:
    """The quantiles of the distribution in random order: their mean is exact, unlike that of draws."""
    quantiles: Floats = -mean * np.log1p(-(np.arange(count) + 0.5) / count)
    return np.random.default_rng(seed).permutation(quantiles)


def poisson(rate: float, count: int) -> Floats:
    return np.cumsum(exponential(1 / rate, count, 3))


def waits(outcome: Outcome) -> Floats:
    return outcome.start - outcome.ready


def first_come(at: Floats, served: Floats, servers: int) -> Floats:
    """The wait of each of these very arrivals, by the recursion of Kiefer and Wolfowitz."""
    free = [0.0] * servers
    found = []
    for arrived, seconds in zip(at.tolist(), served.tolist(), strict=True):
        start = max(arrived, free[0])
        heapq.heapreplace(free, start + seconds)
        found.append(start - arrived)
    return np.array(found)


def test_one_server_with_exponential_times_waits_as_long_as_theory_says() -> None:
    """M/M/1: the wait is rho / (mu - lambda)."""
    at, served = poisson(0.5, 20_000), exponential(1.0, 20_000, 4)
    found = simulate(Fleet(slots=1, cores=1, reserve=0), load(at, served))
    assert waits(found).mean() == pytest.approx(1.0, rel=0.05)
    assert waits(found) == pytest.approx(first_come(at, served, 1), abs=1e-6)


def test_shared_processors_keep_documents_as_long_as_theory_says() -> None:
    """M/M/1 with processor sharing: nobody waits for a slot, and the whole time is 1 / (mu - lambda)."""
    served = exponential(1.0, 20_000, 4)
    found = simulate(Fleet(slots=10_000, cores=1, reserve=0), load(poisson(0.5, 20_000), served))
    assert waits(found).max() == 0
    assert (found.end - found.start).mean() == pytest.approx(2.0, rel=0.05)


def test_two_servers_with_constant_times_wait_as_long_as_theory_says() -> None:
    """M/D/2 with a load of 0.6: 0.2915 of a service time (Cosmetatos; M/M/2 would be 0.5625)."""
    at, served = poisson(1.2, 20_000), np.ones(20_000)
    found = simulate(Fleet(slots=2, cores=2, reserve=0), load(at, served))
    assert waits(found).mean() == pytest.approx(0.2915, rel=0.05)
    assert waits(found) == pytest.approx(first_come(at, served, 2), abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_arrives_leaves_once_and_in_the_order_of_its_stages(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 1_500
    parts = {name: random.exponential(0.05, count) for name in ("intake", "embed", "index", "latency")}
    many = load(
        np.sort(random.uniform(0, 60, count)),
        random.exponential(0.05, count),
        random.integers(0, 20, count),
        tokens=random.exponential(100, count),
        **parts,
    )
    fleet = Fleet(workers=3, machines=2, slots=3, reserve=3, database_cores=2, tokens_per_second=4_000)
    found = simulate(fleet, many)
    assert (found.ready >= many.at).all()
    assert (found.start >= found.ready).all()
    least = many.parse + many.embed + many.index + many.latency + many.tokens / 4_000
    assert (found.end - found.start >= least - 1e-6).all()
    assert found.depth(np.array([found.seconds])) == 0
    assert found.machines_work == pytest.approx((many.parse + many.embed).sum())
    assert found.database_work == pytest.approx((many.intake + many.index).sum())
    running = _most_at_once(found)
    assert running <= fleet.workers * (fleet.slots + fleet.reserve)
    again = simulate(fleet, many)
    assert (again.end == found.end).all()


def test_a_rate_limit_of_the_embedder_holds() -> None:
    documents = load(np.zeros(100), np.full(100, 0.001), tokens=np.full(100, 1_000.0))
    found = simulate(Fleet(slots=50, cores=8, tokens_per_second=10_000), documents)
    assert found.seconds == pytest.approx(10.0, rel=0.01)


def test_a_small_tenant_does_not_wait_for_a_flood() -> None:
    flood, small = 2_000, 20
    at = np.concatenate((np.zeros(flood), np.linspace(5, 60, small)))
    tenant = np.concatenate((np.zeros(flood, np.int64), np.ones(small, np.int64)))
    for reserve, longest in ((5, 0.6), (0, 1.2)):
        fleet = Fleet(slots=5, cores=2, reserve=reserve)
        found = simulate(fleet, load(at, np.full(flood + small, 0.2), tenant))
        assert waits(found)[flood:].max() <= longest, "the next free slot is its own, or one beyond the slots"
        assert waits(found)[:flood].max() > 150


def test_tenants_share_starts_equally_whatever_they_have_waiting() -> None:
    count = 1_200
    tenant = np.repeat(np.arange(3), count // 3)
    found = simulate(Fleet(slots=4, reserve=0), load(np.zeros(count), np.full(count, 0.1), tenant))
    first = tenant[np.argsort(found.start, kind="stable")][: count // 2]
    assert np.bincount(first) == pytest.approx(count // 6, abs=4)


def test_jobs_of_many_documents_predict_what_single_documents_do() -> None:
    """A backlog of one tenant and the flow of others, as single documents and ten to a job."""
    random = np.random.default_rng(9)
    backlog, flow = 4_000, 2_000
    at = np.concatenate((np.zeros(backlog), np.sort(random.uniform(0, 500, flow))))
    tenant = np.concatenate((np.zeros(backlog, np.int64), random.integers(1, 5, flow)))
    times = random.exponential(0.15, backlog + flow)
    single = load(at, times, tenant, together=at == 0)
    joined = _join(single, 10)
    fleet = Fleet(workers=2, slots=5, machines=2, cores=1)
    one, ten = simulate(fleet, single), simulate(fleet, joined)
    assert joined.documents.sum() == len(single)
    assert ten.seconds == pytest.approx(one.seconds, rel=0.03)
    for part in (0, 1):
        exact, rough = (_p95(found, part) for found in (one, ten))
        assert rough == pytest.approx(exact, rel=0.1, abs=2.0)


def _p95(found: Outcome, part: int) -> float:
    chosen = (found.load.tenant > 0) == part
    return quantile(found.delay[chosen], found.load.documents[chosen], 0.95)


def _join(single: Load, size: int) -> Load:
    """Documents of one tenant that follow each other, as one job at the time of the middle one."""
    jobs = []
    for tenant in np.unique(single.tenant):
        own = np.flatnonzero(single.tenant == tenant)
        jobs += [own[start : start + size] for start in range(0, len(own), size)]
    jobs.sort(key=lambda job: float(single.at[job[len(job) // 2]]))
    middle = np.array([job[len(job) // 2] for job in jobs])
    sums = {
        name: np.array([getattr(single, name)[job].sum() for job in jobs]) for name in ("documents", "parse")
    }
    none = np.zeros(len(jobs))
    return Load(
        at=single.at[middle], tenant=single.tenant[middle], intake=none, embed=none, index=none,
        latency=none, tokens=none, together=single.together[middle], **sums,
    )  # fmt: skip


def _most_at_once(found: Outcome) -> int:
    changes = sorted([(at, 1) for at in found.start] + [(at, -1) for at in found.end])
    return int(np.cumsum([change for _, change in changes]).max())
