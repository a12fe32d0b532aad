"""Prepares the picture of a page for OCR: upright, level, dark ink on white paper, and without specks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from penstock.pipeline.parse.scan_lines import Slant, slant_of

if TYPE_CHECKING:
    Levels = npt.NDArray[np.float32]

_REDUCED: Final = 1_200
"""Pixels of the longer side of the picture that is examined; the whole one is only changed."""
_TILES: Final = 40
_FAINTEST: Final = 14
"""Grey levels between ink and paper; with less, the page is blank."""
_SHORT_WORD: Final = 0.0001
"""The share of a page that the ink of a short word covers."""
_WHITE: Final = 200
_EVEN: Final = 0.85
"""The darkest paper on the page, as a share of the lightest; below, the light is uneven."""
_STRONG: Final = 120
"""Grey levels between ink and paper that need no help."""
_LEVEL: Final = 0.3
"""Degrees; OCR copes with less, and turning a picture costs it some sharpness."""
_GRAINY: Final = 0.06
_SPECKLED: Final = 0.003
_SAMPLE: Final = 768
_AT_ONCE: Final = 2_000_000
"""Pixels whose light is evened at a time, to save memory."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is wrong with the picture of a page."""

    ink: float
    """The share of the page that is darker than its paper."""
    inverted: bool
    paper: Levels
    """The grey level of the paper, in tiles."""
    contrast: float
    """Grey levels between the paper and most of the ink."""
    slant: Slant
    grain: float
    """The spread of noise, as a share of the contrast."""
    specks: float
    """The share of pixels that stand alone."""

    @property
    def blank(self) -> bool:
        return not self.ink

    @property
    def inked(self) -> bool:
        """Whether there is as much ink as a short word has; specks and dust are less."""
        return self.ink > _SHORT_WORD

    @property
    def uneven(self) -> bool:
        dark, usual, light = np.percentile(self.paper, (5, 50, 95))
        return bool(dark < _EVEN * light or usual < _WHITE or self.contrast < _STRONG)


def examined(page: Image.Image) -> Look:
    """Look at a grey picture, at a reduced size."""
    small = page.reduce(max(1, round(max(page.size) / _REDUCED)))
    values = np.asarray(small, dtype=np.float32)
    low, middle, high = _tiles(values)
    inverted = bool((high - middle).sum() > 1.3 * (middle - low).sum())
    if inverted:
        values, high = 255 - values, 255 - low
    paper = _smoothed(high)
    depth = _spread(paper, small.size) - values
    deepest = float(np.percentile(depth, 99.5))
    ink = depth > max(_FAINTEST, 0.4 * deepest)
    contrast = float(np.median(depth[ink])) if ink.any() else 0.0
    grain, specks = _noise(page, max(contrast, 1.0))
    return Look(
        ink=float(ink.mean()),
        inverted=inverted,
        paper=paper,
        contrast=contrast,
        slant=slant_of(ink),
        grain=grain,
        specks=specks,
    )


def prepared(page: Image.Image, look: Look) -> Image.Image:
    """The page with everything put right that its look says is wrong; the same picture if nothing is."""
    if look.inverted:
        page = page.point([255 - value for value in range(256)])
    if look.specks > _SPECKLED:
        page = page.filter(ImageFilter.MedianFilter(3))
    if look.grain > _GRAINY:
        page = page.filter(ImageFilter.GaussianBlur(1.2))
    if look.uneven:
        page = _flattened(page, look)
    return levelled(page, look.slant)


def levelled(page: Image.Image, slant: Slant) -> Image.Image:
    """Lines from left to right; a page that is upside down stays so, since its lines look the same."""
    if slant.turned:
        page = page.transpose(Image.Transpose.ROTATE_270)
    if abs(slant.degrees) >= _LEVEL:
        paper = int(np.percentile(np.asarray(page.reduce(8)), 80))
        page = page.rotate(slant.degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=paper)
    return page


def upside_down(page: Image.Image) -> Image.Image:
    return page.transpose(Image.Transpose.ROTATE_180)


def strip(page: Image.Image) -> Image.Image:
    """A quarter of the page, as broad as it is: where it has the most ink."""
    rows = np.asarray(page.reduce(4), dtype=np.float32)
    dark = np.abs(rows - np.median(rows)).sum(axis=1)
    tall = max(1, len(dark) // 4)
    sums = np.convolve(dark, np.ones(tall, dtype=np.float32), "valid")
    top = int(sums.argmax()) * 4
    return page.crop((0, top, page.width, min(page.height, top + tall * 4)))


def _tiles(values: Levels) -> tuple[Levels, Levels, Levels]:
    """Dark, middle and light grey levels in each tile of the picture."""
    side = max(8, max(values.shape) // _TILES)
    down, across = max(1, values.shape[0] // side), max(1, values.shape[1] // side)
    cut = values[: down * side, : across * side] if min(values.shape) >= side else values
    tall, wide = cut.shape[0] // down, cut.shape[1] // across
    blocks = cut[: down * tall, : across * wide].reshape(down, tall, across, wide).swapaxes(1, 2)
    flat = np.sort(blocks.reshape(down, across, tall * wide), axis=2)
    last = flat.shape[2] - 1
    return flat[:, :, last // 50], flat[:, :, last // 2], flat[:, :, last * 9 // 10]


def _smoothed(light: Levels) -> Levels:
    """The lightest of the neighbours, then their mean: a tile full of ink takes the paper around it."""
    tall, wide = light.shape
    framed = np.pad(light, 1, mode="edge")
    around = [framed[down : down + tall, across : across + wide] for down in range(3) for across in range(3)]
    framed = np.pad(np.maximum.reduce(around), 1, mode="edge")
    around = [framed[down : down + tall, across : across + wide] for down in range(3) for across in range(3)]
    mean = np.mean(around, axis=0)
    # A black frame is no paper: it would be amplified into noise.
    return np.asarray(np.maximum(mean, 0.25 * np.percentile(mean, 90)), dtype=np.float32)


def _spread(tiles: Levels, size: tuple[int, int], top: int = 0, bottom: int | None = None) -> Levels:
    """The tiles enlarged to this size, or some rows of that."""
    bottom = size[1] if bottom is None else bottom
    box = (0, tiles.shape[0] * top / size[1], tiles.shape[1], tiles.shape[0] * bottom / size[1])
    rows = Image.fromarray(tiles).resize((size[0], bottom - top), Image.Resampling.BILINEAR, box)
    return np.asarray(rows, dtype=np.float32)


def _flattened(page: Image.Image, look: Look) -> Image.Image:
    """Each pixel as a share of the paper around it, with the ink stretched to black."""
    values = np.asarray(page)
    paper = np.maximum(look.paper, 1.0)
    small = page.reduce(4)
    sample = np.asarray(small) / _spread(paper, small.size)
    black = float(np.percentile(sample[sample <= np.percentile(sample, 12)], 20))
    white = max(0.93, black + 0.02)
    out = np.empty_like(values)
    rows = max(1, _AT_ONCE // page.width)
    for top in range(0, page.height, rows):
        bottom = min(page.height, top + rows)
        share = values[top:bottom] / _spread(paper, page.size, top, bottom)
        share -= black
        share *= 255.0 / (white - black)
        np.clip(share, 0, 255, out=share)
        out[top:bottom] = share
    return Image.fromarray(out)


def _noise(page: Image.Image, contrast: float) -> tuple[float, float]:
    """Grain and specks in the middle of the page, at full size."""
    left, top = max(0, (page.width - _SAMPLE) // 2), max(0, (page.height - _SAMPLE) // 2)
    box = (left, top, min(page.width, left + _SAMPLE), min(page.height, top + _SAMPLE))
    at = np.asarray(page.crop(box), dtype=np.float32)
    if min(at.shape) < 3:
        return 0.0, 0.0
    beside = [at[:-2, 1:-1], at[2:, 1:-1], at[1:-1, :-2], at[1:-1, 2:]]
    corners = at[:-2, :-2] + at[:-2, 2:] + at[2:, :-2] + at[2:, 2:]
    inner = at[1:-1, 1:-1]
    # The second difference both ways is zero on edges and slopes; what is left is noise (Immerkaer 1996).
    left_over = np.abs(corners - 2 * np.add.reduce(beside) + 4 * inner)
    grain = float(np.median(left_over)) / (0.6745 * 6)
    step = 0.5 * contrast
    alone = (inner > np.maximum.reduce(beside) + step) | (inner < np.minimum.reduce(beside) - step)
    return grain / contrast, float(alone.mean())
