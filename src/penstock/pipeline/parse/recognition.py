"""Reads a page that is a picture: prepares it, recognizes its words, and tries again if they are doubtful."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from penstock.model import media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.pdf.choice import ranges
from penstock.pipeline.parse.scan_image import Look, examined, levelled, prepared, strip, upside_down
from penstock.pipeline.parse.scan_words import ScannedPage, words_of

if TYPE_CHECKING:
    from PIL import Image

GOOD: Final = 80.0
"""Confidence from which a page is not tried a second time."""
DOUBTFUL: Final = 60.0
"""Confidence below which a page is named in the document's warnings."""

_CLEARLY: Final = 10.0
_MOST_NAMED: Final = 20
"""Pages with a sentence of their own."""


def recognized(page: Image.Image, *, language: str) -> ScannedPage:
    """The words on a grey picture of a page: the best of at most three readings."""
    look = examined(page)
    if look.blank:
        return ScannedPage((), inked=False)
    return replace(_best(page, look, language), inked=look.inked)


def _best(page: Image.Image, look: Look, language: str) -> ScannedPage:
    ready = prepared(page, look)
    best = _read(ready, language)
    if best.confidence >= GOOD:
        return best
    # Lines look the same upside down; a strip tells, at a fraction of the cost.
    upright, turned = ready, upside_down(ready)
    if _read(strip(turned), language).confidence > best.confidence + _CLEARLY:
        again = _read(turned, language)
        if again.worth > best.worth:
            best, page, upright = again, upside_down(page), turned
    if best.confidence >= GOOD:
        return best
    # What was done to the page may have made it worse, or its tilt may be that of something else.
    plain = levelled(page, look.slant._replace(degrees=0.0))
    if plain.tobytes() != upright.tobytes():
        best = max(best, _read(plain, language), key=lambda one: one.worth)
    return best


def warnings_of(confidence: Mapping[int, float], unread: Sequence[int] = ()) -> list[str]:
    """A sentence for each page, by number, that was hard to read or not read; many are summed up as ranges.

    `unread` are pages with ink on which no word was found.
    """
    hard = {
        number: f"page {number} was hard to read (confidence {value:.0f} of 100)"
        for number, value in confidence.items()
        if value < DOUBTFUL
    }
    hard |= {number: f"page {number} is not blank, but no words were found on it" for number in unread}
    numbers = sorted(hard)
    more, wordless = numbers[_MOST_NAMED:], set(unread)
    return [
        *(hard[number] for number in numbers[:_MOST_NAMED]),
        *_summed_up([number for number in more if number not in wordless], "hard to read"),
        *_summed_up([number for number in more if number in wordless], "not blank, but without words"),
    ]


def _summed_up(numbers: Sequence[int], said: str) -> list[str]:
    count = f"{len(numbers)} more page{'s were' if len(numbers) > 1 else ' was'}"
    return [f"{count} {said}: {ranges(numbers)}"] if numbers else []


def described(confidence: dict[int, float]) -> dict[str, str]:
    """The confidence per page, as metadata: `1: 96, 2: 41`."""
    if not confidence:
        return {}
    return {"ocr_confidence": ", ".join(f"{page}: {value:.0f}" for page, value in sorted(confidence.items()))}


def _read(page: Image.Image, language: str) -> ScannedPage:
    held = io.BytesIO()
    page.save(held, "BMP")
    return words_of(engine.recognize(held.getvalue(), mime_type=media.BMP, language=language))
