"""What scanners, cameras and copiers do to a page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

_WHITE = 255


def tilted(image: Image.Image, degrees: float) -> Image.Image:
    return image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=_WHITE)


def shaded(image: Image.Image) -> Image.Image:
    """Lit from one corner, as in a photo: the paper at the far one is darker than ink at the near one."""
    values = _values(image)
    rows, columns = values.shape
    down, across = np.mgrid[0:rows, 0:columns]
    light = 1.0 - 0.72 * (down / rows + across / columns) / 2
    return _image(values * light * 0.95 + 20 * light)


def pale(image: Image.Image, *, ink: int, paper: int) -> Image.Image:
    return _image(ink + _values(image) * (paper - ink) / 255)


def specks(image: Image.Image, share: float) -> Image.Image:
    values = _values(image)
    chance = np.random.default_rng(5).random(values.shape)
    values[chance < share / 2] = 0
    values[chance > 1 - share / 2] = 255
    return _image(values)


def grain(image: Image.Image, spread: float) -> Image.Image:
    values = _values(image) * 0.7 + 40
    return _image(values + np.random.default_rng(6).normal(0, spread, values.shape))


def blurred(image: Image.Image, radius: float) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(radius))


def shrunk(image: Image.Image, factor: float) -> Image.Image:
    return image.resize(
        (round(image.width * factor), round(image.height * factor)), Image.Resampling.BILINEAR
    )


def inverted(image: Image.Image) -> Image.Image:
    return image.point([255 - value for value in range(256)])


def black_edges(image: Image.Image) -> Image.Image:
    """A book on a scanner with its lid open: a black frame, wider on one side."""
    framed = Image.new("L", (image.width + 170, image.height + 120), 12)
    framed.paste(image, (120, 60))
    return framed


def transparent(image: Image.Image) -> Image.Image:
    """Black ink on nothing: where nothing is drawn, the colour below is black too."""
    ink = Image.new("L", image.size, 0)
    return Image.merge("RGBA", (ink, ink, ink, inverted(image)))


def all_at_once(image: Image.Image) -> Image.Image:
    return grain(blurred(shaded(tilted(image, -2.2)), 0.8), 9)


def _values(image: Image.Image) -> npt.NDArray[np.float64]:
    return np.asarray(image.convert("L"), dtype=np.float64).copy()


def _image(values: npt.NDArray[np.float64]) -> Image.Image:
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
