"""Service times of the stages from two real runs: one document at a time, and several at a time."""

from __future__ import annotations

import dataclasses

import numpy as np

from bench.scale.real_run import RealRun
from bench.scale.simulator import Fleet, Floats, Integers, Load, Outcome, simulate

MOST = 100.0
"""Other programs that are looked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """Seconds of each measured document by stage; a prediction draws whole documents from them."""

    parse: Floats
    embed: Floats
    index: Floats
    latency: Floats
    tokens: Floats
    chunks: Floats
    intake: float
    others: float = 0.0
    """How many other programs wanted the processors: near 0 on a quiet machine."""

    @classmethod
    def measured(cls, alone: RealRun, busy: RealRun, fleet: Fleet) -> Service:
        """From a run of one document at a time, in which nothing waits for anything, and one of several.

        Processor time is known for the workers and the database, wall time for the stages of each document;
        the processor time of the second run, which shares batches, is split over documents and stages as
        the wall time of the first is. What is left of the wall time is waiting. The others are as many as
        make the simulation of the second run take as long as it did.
        """
        at = np.array(sorted(one.arrived for one in busy.seen))
        low, high = 0.0, MOST
        for _ in range(25):
            middle = (low + high) / 2
            tried = cls._beside(alone, busy, fleet.cores, middle)
            runs = tried.runs(fleet, at, np.zeros(len(at), np.int64))
            if np.mean([one.seconds for one in runs]) < busy.seconds:
                low = middle
            else:
                high = middle
        return cls._beside(alone, busy, fleet.cores, low)

    @classmethod
    def _beside(cls, alone: RealRun, busy: RealRun, cores: float, others: float) -> Service:
        times = np.array([(one.began, one.embedding, one.indexed) for one in alone.seen])
        parse, rest = times[:, 1] - times[:, 0], times[:, 2] - times[:, 1]
        between = np.maximum(0.0, times[1:, 0] - times[:-1, 2])
        whole = parse + rest
        each = len(alone.seen) / len(busy.seen) / whole.sum()
        worker, database = busy.worker_seconds * each, busy.database_seconds * each
        stretched = (worker + database) * max(1.0, (1 + others) / cores)
        return cls(
            parse=parse * worker,
            embed=rest * worker,
            index=whole * database,
            latency=whole * max(0.0, 1.0 - stretched) + float(np.median(between)),
            tokens=np.array([float(one.tokens) for one in alone.seen]),
            chunks=np.array([float(one.chunks) for one in alone.seen]),
            intake=busy.intake_seconds,
            others=others,
        )

    def runs(self, fleet: Fleet, at: Floats, tenant: Integers, count: int = 5) -> list[Outcome]:
        """Simulations of a small run, each with the measured documents in another order."""
        fleet = dataclasses.replace(fleet, others=self.others)
        return [simulate(fleet, self.single(at, tenant, seed)) for seed in range(count)]

    def single(self, at: Floats, tenant: Integers, seed: int) -> Load:
        """Documents one by one; each measured one is used as often as the others."""
        order = np.random.default_rng(seed).permutation(np.arange(len(at)) % len(self.parse))
        count = len(at)
        return Load(
            at=at,
            tenant=tenant,
            documents=np.ones(count, np.int64),
            intake=np.where(at > 0, self.intake, 0.0),
            parse=self.parse[order],
            embed=self.embed[order],
            index=self.index[order],
            latency=self.latency[order],
            tokens=self.tokens[order],
            together=np.ones(count, bool),
        )
