"""A discrete-event model of the pipeline: intake, queue, claim by tenant, parse, embed, index.

A job is a document, or several of one tenant that run one after another in one slot (`documents`), so that
ten million documents are some hundred thousand jobs.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections import Counter, deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench.scale.lanes import Lanes
from bench.scale.processors import Processors

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LOOK_SECONDS = 0.5
"""How often a worker whose slots are all taken looks for tenants that have nothing running there."""

PROCESSORS_FREE, LATENCY_OVER, LOOK = range(3)
INTAKE, PARSE, EMBED, REMOTE, INDEX = range(5)


@dataclasses.dataclass(frozen=True, slots=True)
class Fleet:
    """Machines, workers and what they share."""

    workers: int = 1
    slots: int = 5
    reserve: int = 5
    """Runs beyond the slots, each of a tenant that has none running in that worker."""
    machines: int = 1
    cores: float = 2.0
    """Of each machine; workers are spread over the machines in turn."""
    database_cores: float | None = None
    """None: the database and the API share the first machine."""
    others: float = 0.0
    """How many other programs want the cores of each machine all the time."""
    tokens_per_second: float | None = None
    """The rate limit of a remote embedder; None: it is local."""


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """Jobs in the order of their arrival, with the seconds of processor time each stage of them takes."""

    at: Floats
    tenant: Integers
    documents: Integers
    intake: Floats
    parse: Floats
    embed: Floats
    index: Floats
    latency: Floats
    """Waiting that uses no processor: commits, answers of a remote embedder."""
    tokens: Floats
    together: npt.NDArray[np.bool_]
    """Its documents came at once; otherwise the job stands for some that came one by one around its time."""

    def __len__(self) -> int:
        return len(self.at)


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """When each job could be claimed, was, and ended; and how busy what it ran on was."""

    load: Load
    ready: Floats
    start: Floats
    end: Floats
    machines_work: float
    database_work: float

    @property
    def seconds(self) -> float:
        return float(self.end.max(initial=0.0))

    @property
    def delay(self) -> Floats:
        """From the moment a document is in the queue until it is indexed, for the middle one of a job."""
        count = self.load.documents
        share = np.where(self.load.together, (count + 1) / (2 * count), 1 / count)
        return self.start - self.ready + (self.end - self.start) * share

    def depth(self, at: Floats) -> Floats:
        """Documents that wait for a slot at these times."""
        return _count(self.ready, self.load.documents, at) - _count(self.start, self.load.documents, at)


def _count(times: Floats, documents: Integers, at: Floats) -> Floats:
    order = np.argsort(times, kind="stable")
    total = np.concatenate(([0], np.cumsum(documents[order])))
    counted: Floats = total[np.searchsorted(times[order], at, side="right")].astype(float)
    return counted


def quantile(values: Floats, weights: Integers, q: float) -> float:
    """The value that a share q of the weight does not exceed."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, q * reached[-1])])


def simulate(fleet: Fleet, load: Load) -> Outcome:
    return _Simulation(fleet, load).run()


class _Simulation:
    def __init__(self, fleet: Fleet, load: Load) -> None:
        self._fleet = fleet
        self._load = load
        self._processors = [Processors(fleet.cores, fleet.others) for _ in range(fleet.machines)]
        self._database = 0
        if fleet.database_cores is not None:
            self._database = len(self._processors)
            self._processors.append(Processors(fleet.database_cores, fleet.others))
        self._remote = len(self._processors)
        self._processors.append(Processors(1.0))
        count = len(load)
        self._tenant: list[int] = load.tenant.tolist()
        self._documents: list[int] = load.documents.tolist()
        self._latency: list[float] = load.latency.tolist()
        rate = fleet.tokens_per_second
        remote = np.zeros(count) if rate is None else load.tokens / rate
        stages = (load.intake, load.parse, load.embed, remote, load.index)
        self._work: list[list[float]] = [stage.tolist() for stage in stages]
        self._stage = [INTAKE] * count
        self._worker = [0] * count
        self._in_reserve = [False] * count
        self._ready, self._start, self._end = ([0.0] * count for _ in range(3))
        self._lanes = Lanes()
        self._free = deque(worker for _ in range(fleet.slots) for worker in range(fleet.workers))
        self._free_of = [fleet.slots] * fleet.workers
        self._reserve_of = [fleet.reserve] * fleet.workers
        self._running: list[Counter[int]] = [Counter() for _ in range(fleet.workers)]
        self._looks = 0
        self._events: list[tuple[float, int, int, int, int]] = []
        self._seq = itertools.count()

    def run(self) -> Outcome:
        arrivals: Sequence[float] = self._load.at.tolist()
        job, count, events = 0, len(arrivals), self._events
        while job < count or events:
            if job < count and (not events or arrivals[job] <= events[0][0]):
                self._go(arrivals[job], job, INTAKE)
                job += 1
                continue
            now, _, kind, what, version = heapq.heappop(events)
            if kind == LATENCY_OVER:
                self._go(now, what, PARSE)
            elif kind == LOOK:
                self._serve_others(now, what)
            elif self._processors[what].version == version:
                ended = self._processors[what].end_first(now)
                self._announce(now, what)
                self._go(now, ended, self._stage[ended] + 1)
        return self._outcome()

    def _go(self, now: float, job: int, stage: int) -> None:
        """Enter a stage, or the next one that takes any time."""
        while True:
            if stage == PARSE and self._stage[job] == INTAKE and self._worker[job] == 0:
                self._arrive(now, job)
                return
            if stage > INDEX:
                self._finish(now, job)
                return
            if self._work[stage][job] > 0:
                break
            stage += 1
        self._stage[job] = stage
        where = self._place(job, stage)
        self._processors[where].add(now, self._work[stage][job], job)
        self._announce(now, where)

    def _place(self, job: int, stage: int) -> int:
        if stage in (INTAKE, INDEX):
            return self._database
        if stage == REMOTE:
            return self._remote
        return (self._worker[job] - 1) % self._fleet.machines

    def _announce(self, now: float, where: int) -> None:
        processors = self._processors[where]
        at = processors.next_end(now)
        if at is not None:
            heapq.heappush(self._events, (at, next(self._seq), PROCESSORS_FREE, where, processors.version))

    def _arrive(self, now: float, job: int) -> None:
        self._ready[job] = now
        tenant = self._tenant[job]
        was_empty = self._lanes.add(tenant, job)
        if self._free:
            self._fill(now)
        elif was_empty:
            self._look_soon(now, tenant)

    def _look_soon(self, now: float, tenant: int) -> None:
        """One of the workers that could take it beyond its slots looks; of n, the first after 1 / (n + 1)."""
        able = [
            worker
            for worker, left in enumerate(self._reserve_of)
            if left and not self._running[worker][tenant]
        ]
        if able:
            self._looks += 1
            worker = able[self._looks % len(able)]
            at = now + LOOK_SECONDS / (len(able) + 1)
            heapq.heappush(self._events, (at, next(self._seq), LOOK, worker, 0))

    def _fill(self, now: float) -> None:
        while self._free and (job := self._lanes.take(self._documents.__getitem__)) is not None:
            worker = self._free.popleft()
            self._free_of[worker] -= 1
            self._begin(now, job, worker)

    def _serve_others(self, now: float, worker: int) -> None:
        while not self._free_of[worker] and self._reserve_of[worker] and self._lanes:
            running = {tenant for tenant, count in self._running[worker].items() if count}
            job = self._lanes.take(self._documents.__getitem__, running)
            if job is None:
                return
            self._reserve_of[worker] -= 1
            self._in_reserve[job] = True
            self._begin(now, job, worker)

    def _begin(self, now: float, job: int, worker: int) -> None:
        self._start[job] = now
        # Counted from one: a job of no worker is one that has not been claimed.
        self._worker[job] = worker + 1
        self._running[worker][self._tenant[job]] += 1
        if self._latency[job] > 0:
            heapq.heappush(self._events, (now + self._latency[job], next(self._seq), LATENCY_OVER, job, 0))
        else:
            self._go(now, job, PARSE)

    def _finish(self, now: float, job: int) -> None:
        self._end[job] = now
        worker, tenant = self._worker[job] - 1, self._tenant[job]
        self._running[worker][tenant] -= 1
        if not self._running[worker][tenant]:
            del self._running[worker][tenant]
        if self._in_reserve[job]:
            self._reserve_of[worker] += 1
        else:
            self._free.append(worker)
            self._free_of[worker] += 1
            self._fill(now)
        self._serve_others(now, worker)

    def _outcome(self) -> Outcome:
        work = [processors.work for processors in self._processors]
        return Outcome(
            self._load,
            ready=np.array(self._ready),
            start=np.array(self._start),
            end=np.array(self._end),
            machines_work=sum(work[: self._fleet.machines]),
            database_work=work[self._database],
        )
