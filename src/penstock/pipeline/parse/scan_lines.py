"""Finds how the lines of a scanned page run, by the profile of its ink across them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.float32]

_FARTHEST: Final = 10.0
"""Degrees; pages lie no more askew in a scanner, and pictures with more are no pages."""
_COARSE, _FINE = 0.5, 0.1
_MOST_POINTS: Final = 60_000
_LONGEST: Final = 40
"""Pixels of a run of ink; longer ones are rules, frames and photos, not letters."""
_FEWEST_POINTS: Final = 40
_CLEARLY: Final = 1.25


class Slant(NamedTuple):
    turned: bool
    """Lines run from top to bottom: the page lies on its side."""
    degrees: float
    """Turn the page by this, against the clock, to make its lines level; after a quarter turn if turned."""


def slant_of(ink: Mask) -> Slant:
    """How lines run on a page of about a thousand pixels, of which some are ink."""
    letters = ink & ~_rules(ink) & ~_rules(ink.T).T
    down, across = np.nonzero(letters)
    if len(down) < _FEWEST_POINTS:
        return Slant(turned=False, degrees=0.0)
    if len(down) > _MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(down), _MOST_POINTS, replace=False)
        down, across = down[chosen], across[chosen]
    y, x = down.astype(np.float32), across.astype(np.float32)
    level = _best(y, x)
    # Turned by a quarter with the clock, what was at the left is at the top.
    standing = _best(x, -y)
    turned = standing[0] > _CLEARLY * level[0]
    return Slant(turned, round((standing if turned else level)[1], 2))


def _best(y: Places, x: Places) -> tuple[float, float]:
    """The sharpest profile and its angle; a level page is not turned for a profile that is hardly sharper."""
    coarse = np.arange(-_FARTHEST, _FARTHEST + _COARSE / 2, _COARSE)
    _, near = max((_sharpness(y, x, angle), angle) for angle in coarse)
    fine = near + np.arange(-_COARSE + _FINE, _COARSE, _FINE)
    sharpest, angle = max((_sharpness(y, x, one), one) for one in fine)
    level = _sharpness(y, x, 0.0)
    return (level, 0.0) if level > 0.98 * sharpest else (sharpest, float(angle))


def _sharpness(y: Places, x: Places, degrees: float) -> float:
    """How much the ink per row changes from row to row, once the page is turned by this angle."""
    angle = np.deg2rad(degrees)
    rows = y * np.float32(np.cos(angle)) - x * np.float32(np.sin(angle))
    profile = np.bincount((rows - rows.min()).astype(np.intp))
    return float(np.square(np.diff(profile, prepend=0, append=0)).sum())


def _rules(ink: Mask) -> Mask:
    """Pixels in a run of ink along a row that is longer than a letter."""
    if ink.shape[1] <= _LONGEST:
        return np.zeros_like(ink)
    sums = np.cumsum(np.pad(ink, ((0, 0), (1, 0))), axis=1, dtype=np.int32)
    full = sums[:, _LONGEST:] - sums[:, :-_LONGEST] == _LONGEST
    starts = np.cumsum(np.pad(full, ((0, 0), (_LONGEST, _LONGEST))), axis=1, dtype=np.int32)
    covered = starts[:, _LONGEST:] - starts[:, :-_LONGEST] > 0
    return np.asarray(covered[:, : ink.shape[1]])
