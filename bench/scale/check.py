"""The prediction of a real run that the model was not made from, beside what was measured."""

from __future__ import annotations

import numpy as np

from bench.job import Figures
from bench.scale.real_run import RealRun
from bench.scale.simulator import Floats, Integers, Outcome
from bench.workloads import Column, Medians, Verdict

TOTAL, OTHERS = 0.25, 0.35
"""How far the prediction may be from the measurement, as a share of it."""
FLOOD = 0
"""The tenant whose documents all wait at the beginning."""


class Check:
    name = "check"
    title = "A real run, and its prediction from other runs"
    columns = (
        Column("seconds", "all indexed after s", 2),
        Column("p50", "delay p50 s", 2),
        Column("p95", "delay p95 s", 2),
        Column("flood_p95", "flood p95 s", 2),
        Column("small_p50", "small tenants p50 s", 2),
        Column("small_p95", "small tenants p95 s", 2),
        Column("mean_depth", "mean depth", 1),
        Column("most_depth", "deepest", 0),
    )

    def judge(self, medians: Medians) -> list[Verdict]:
        if not {"measured", "predicted"} <= medians.keys():
            return []
        measured, predicted = medians["measured"], medians["predicted"]

        def off(key: str) -> float:
            return abs(predicted[key] / measured[key] - 1)

        return [
            Verdict("Error of the predicted total time", off("seconds"), TOTAL, at_least=False),
            Verdict("Error of the predicted p95 of the delay", off("p95"), OTHERS, at_least=False),
            Verdict("Error of the predicted mean depth", off("mean_depth"), OTHERS, at_least=False),
        ]


def seen(run: RealRun) -> Figures:
    columns = np.array([(one.arrived, one.began, one.indexed) for one in run.seen]).T
    return _figures(columns[0], columns[1], columns[2], np.array([one.tenant for one in run.seen]))


def foreseen(runs: list[Outcome]) -> Figures:
    """The mean over several orders of the documents."""
    all_of = [_figures(one.ready, one.start, one.end, one.load.tenant) for one in runs]
    return {key: float(np.mean([figures[key] for figures in all_of])) for key in all_of[0]}


def _figures(arrived: Floats, began: Floats, ended: Floats, tenant: Integers) -> Figures:
    delay = ended - arrived
    flood = tenant == FLOOD
    times = np.sort(np.concatenate((arrived, began)))
    depth = [int((arrived <= at).sum() - (began <= at).sum()) for at in times]
    total = float(ended.max())
    return {
        "seconds": total,
        "p50": float(np.quantile(delay, 0.5)),
        "p95": float(np.quantile(delay, 0.95)),
        "flood_p95": float(np.quantile(delay[flood], 0.95)),
        "small_p50": float(np.quantile(delay[~flood], 0.5)),
        "small_p95": float(np.quantile(delay[~flood], 0.95)),
        # Little's law: the documents that wait on average are what all of them waited, over the time.
        "mean_depth": float((began - arrived).sum() / total),
        "most_depth": float(max(depth)),
    }
