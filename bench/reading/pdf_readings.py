"""Scores Penstock's reading of the generated PDF files beside plain pdfium's and xberg's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from bench.reading import penstock_reading
from bench.reading.peers import pdfium, xberg
from bench.reading.truth import Reading, Scores, Truth, scores

MEASURES = ("words", "cells", "headings", "order")


READERS: Mapping[str, Callable[[Path], Reading]] = {
    "penstock": penstock_reading.read,
    "pdfium": pdfium,
    "xberg": xberg,
}


def compared(truths: Iterable[Truth]) -> dict[str, list[tuple[str, Scores]]]:
    """The scores of each reader, file by file."""
    kept = list(truths)
    return {
        name: [(truth.path.stem, scores(truth, read(truth.path))) for truth in kept]
        for name, read in READERS.items()
    }


def means(found: Iterable[Scores]) -> dict[str, float]:
    """The mean of each measure over the files that have something of its kind."""
    kept = list(found)
    return {
        measure: fmean(value for each in kept if (value := getattr(each, measure)) is not None)
        for measure in MEASURES
    }


def table(found: Mapping[str, Sequence[tuple[str, Scores]]]) -> str:
    """A line per reader: the mean of each measure."""
    lines = [f"{'reader':10}" + "".join(f"{measure:>10}" for measure in MEASURES)]
    for name, scored in found.items():
        mean = means(each for _, each in scored)
        lines.append(f"{name:10}" + "".join(f"{mean[measure]:10.3f}" for measure in MEASURES))
    return "\n".join(lines)
