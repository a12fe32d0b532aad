"""Pages to recognize, as grey pictures: drawn from a PDF, or taken out of a picture file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from penstock.pipeline.parse.guards import MOST_PIXELS
from penstock.pipeline.parse.pdfium import PdfFile
from penstock.pipeline.reasons import Reason, rejected

DOTS_PER_INCH: Final = 200
LONGEST_SIDE: Final = 4_096
"""Pixels; xberg reduces what is longer, and the steps before it would only cost more."""
MOST_FRAMES: Final = 1_000
_FORMATS: Final = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")


def page_of_pdf(file: PdfFile, number: int) -> Image.Image:
    with contextlib.closing(file.document[number - 1]) as page:
        width, height = page.get_size()
        scale = min(DOTS_PER_INCH / 72, LONGEST_SIDE / max(1.0, width, height))
        with contextlib.closing(page.render(scale=scale, grayscale=True)) as drawn:
            return Image.frombytes(
                "L", (drawn.width, drawn.height), bytes(drawn.buffer), "raw", "L", drawn.stride
            )


def pages_of_picture(path: Path) -> Iterator[Image.Image]:
    """The pages of a TIFF, or one; upright as its camera says, on white, without colour."""
    try:
        with Image.open(path, formats=_FORMATS) as file:
            # The frames of the other types are an animation, not pages.
            count = min(getattr(file, "n_frames", 1), MOST_FRAMES) if file.format == "TIFF" else 1
            for number, frame in enumerate(ImageSequence.Iterator(file)):
                if number == count:
                    break
                if frame.width * frame.height > MOST_PIXELS:
                    raise rejected(
                        Reason.BOMB,
                        f"page {number + 1} has {frame.width:,} x {frame.height:,} pixels, "
                        f"more than {MOST_PIXELS:,}",
                    )
                yield _grey(frame)
    except UnidentifiedImageError as error:
        raise rejected(Reason.MALFORMED, "the picture is damaged") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if path.exists() and "truncated" in str(error):
            raise rejected(Reason.TRUNCATED, f"the picture is truncated: {error}") from error
        raise rejected(Reason.MALFORMED, f"the picture is damaged: {error}") from error


def _grey(frame: Image.Image) -> Image.Image:
    frame.draft("L", None)  # a JPEG is then decoded without colour
    if frame.mode in ("I;16", "I;16B", "I;16L", "I", "F"):
        grey = _eight_bits(frame)
    elif frame.has_transparency_data:
        inked = frame.convert("RGBA")
        grey = Image.new("L", frame.size, 255)
        grey.paste(inked.convert("L"), mask=inked.getchannel("A"))
    else:
        grey = frame.convert("L")
    upright = ImageOps.exif_transpose(grey)
    if max(upright.size) > LONGEST_SIDE:
        upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.BICUBIC)
    return upright


def _eight_bits(frame: Image.Image) -> Image.Image:
    """Deep greys, stretched from their darkest to their lightest."""
    deep = frame.convert("F")
    low, high = (float(value) for value in deep.getextrema())  # type: ignore[arg-type]  # two numbers, in grey
    scale = 255.0 / max(high - low, 1e-6)
    return deep.point(lambda value: value * scale - low * scale).convert("L")
