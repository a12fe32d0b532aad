"""A scanned page is levelled, its light evened and its ink made dark before it is read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from bench.reading.made import scan_damage as damage
from bench.reading.made import scan_pages as pages
from penstock.errors import DocumentRejected
from penstock.pipeline.parse.scan_image import examined, prepared, strip
from penstock.pipeline.parse.scan_pages import LONGEST_SIDE, pages_of_picture

if TYPE_CHECKING:
    from collections.abc import Callable

UPRIGHT = Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270


@pytest.fixture(scope="module")
def page() -> Image.Image:
    return pages.drawn(pages.prose(7), 110)


@pytest.mark.parametrize("degrees", [-7.0, -1.0, 0.0, 2.3, 5.0])
def test_a_tilted_page_is_levelled(page: Image.Image, degrees: float) -> None:
    slant = examined(damage.tilted(page, degrees) if degrees else page).slant
    assert not slant.turned
    assert slant.degrees == pytest.approx(-degrees, abs=0.3)


@pytest.mark.parametrize("turn", UPRIGHT, ids=["left", "right"])
@pytest.mark.parametrize("made", [pages.prose, pages.few_words, pages.ruled_table, pages.two_columns])
def test_a_page_on_its_side_is_noticed(made: Callable[[int], pages.Page], turn: Image.Transpose) -> None:
    upright = pages.drawn(made(4), 110)
    assert not examined(upright).slant.turned
    assert examined(upright.transpose(turn)).slant.turned


def test_a_clean_page_is_left_as_it_is(page: Image.Image) -> None:
    look = examined(page)
    assert (look.blank, look.inverted, look.uneven) == (False, False, False)
    assert prepared(page, look) is page


@pytest.mark.parametrize(
    "spoil",
    [
        damage.shaded,
        damage.inverted,
        lambda image: damage.pale(image, ink=150, paper=190),
        lambda image: damage.pale(image, ink=20, paper=85),
    ],
    ids=["shaded", "inverted", "pale", "dark paper"],
)
def test_ink_becomes_dark_and_paper_white(
    page: Image.Image, spoil: Callable[[Image.Image], Image.Image]
) -> None:
    spoilt = spoil(page)
    ready = np.asarray(prepared(spoilt, examined(spoilt)))
    was = np.asarray(page)
    assert ready[was < 40].mean() < 60
    assert ready[was > 250].mean() > 240


def test_specks_are_removed(page: Image.Image) -> None:
    speckled = damage.specks(page, 0.03)
    ready = prepared(speckled, examined(speckled))
    was, before, after = (np.asarray(one, dtype=np.float32) for one in (page, speckled, ready))
    paper = was > 250
    assert (before[paper] < 100).mean() > 0.01
    assert (after[paper] < 100).mean() < 0.001


def test_an_empty_page_is_blank() -> None:
    assert examined(Image.new("L", (600, 800), 243)).blank
    assert examined(Image.new("L", (3, 2), 243)).blank


def test_the_strip_that_is_tried_has_the_ink() -> None:
    page = Image.new("L", (200, 400), 255)
    page.paste(0, (20, 300, 180, 320))
    cut = strip(page)
    assert (cut.width, cut.height) == (200, 100)
    assert np.asarray(cut).min() == 0


def written(folder: Path, image: Image.Image, name: str, **options: Any) -> Path:
    path = folder / name
    image.save(path, **options)
    return path


def test_a_photo_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    photo = Image.new("RGB", (60, 40), "white")
    photo.paste("black", (0, 0, 20, 40))
    for orientation, dark in ((3, (59, 20)), (6, (20, 0)), (8, (20, 59))):
        said = Image.Exif()
        said[0x0112] = orientation
        (page,) = pages_of_picture(written(tmp_path, photo, "photo.jpg", exif=said))
        assert page.size == ((60, 40) if orientation == 3 else (40, 60))
        assert page.getpixel(dark) < 50  # type: ignore[operator]  # a number, in grey


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    drawing = Image.new("RGBA", (30, 20), (0, 0, 0, 0))
    drawing.paste((0, 0, 0, 255), (5, 5, 10, 10))
    (page,) = pages_of_picture(written(tmp_path, drawing, "drawing.png"))
    assert (page.mode, page.getpixel((0, 0)), page.getpixel((7, 7))) == ("L", 255, 0)


def test_deep_greys_are_kept_apart(tmp_path: Path) -> None:
    deep = Image.fromarray(np.array([[1_000, 30_000], [30_000, 60_000]], dtype=np.uint16))
    (page,) = pages_of_picture(written(tmp_path, deep, "deep.png"))
    assert (page.getpixel((0, 0)), page.getpixel((1, 1))) == (0, 255)
    assert 110 < page.getpixel((1, 0)) < 140  # type: ignore[operator]  # a number, in grey


def test_a_tiff_has_pages_and_an_animation_one(tmp_path: Path) -> None:
    frames = [Image.new("L", (20, 10), shade) for shade in (255, 128, 0)]
    for name, count in (("pages.tiff", 3), ("animation.gif", 1), ("animation.webp", 1)):
        path = written(tmp_path, frames[0], name, save_all=True, append_images=frames[1:])
        assert len(list(pages_of_picture(path))) == count, name


def test_a_large_picture_is_reduced(tmp_path: Path) -> None:
    (page,) = pages_of_picture(written(tmp_path, Image.new("1", (9_000, 300), 1), "wide.png"))
    assert page.size == (LONGEST_SIDE, round(300 * LONGEST_SIDE / 9_000))


def test_a_damaged_picture_is_rejected(tmp_path: Path) -> None:
    held = io.BytesIO()
    Image.effect_noise((200, 200), 80).save(held, "PNG")
    path = tmp_path / "cut.png"
    path.write_bytes(held.getvalue()[:9_000])
    with pytest.raises(DocumentRejected) as caught:
        list(pages_of_picture(path))
    assert caught.value.code == "truncated"
    path.write_bytes(held.getvalue()[:20])
    with pytest.raises(DocumentRejected) as caught:
        list(pages_of_picture(path))
    assert caught.value.code in ("malformed", "truncated")
