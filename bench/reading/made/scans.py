"""Makes scanned pages whose text is known: drawn, then turned, tilted, shaded, blurred or inverted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bench.reading.made import scan_damage as damage
from bench.reading.made import scan_pages as pages
from bench.reading.made.scan_pages import Page
from bench.reading.truth import Truth

_WRITTEN = {".png": "PNG", ".jpg": "JPEG"}


@dataclass(frozen=True, slots=True)
class _Spoiled:
    """A picture file with one page: what is on it, and what was done to it."""

    name: str
    page: Callable[[int], Page]
    spoil: Callable[[Image.Image], Image.Image]


_PICTURES = (
    _Spoiled("clean.png", pages.prose, lambda image: image),
    _Spoiled("turned-90.png", pages.prose, lambda image: image.transpose(Image.Transpose.ROTATE_90)),
    _Spoiled("turned-180.png", pages.prose, lambda image: image.transpose(Image.Transpose.ROTATE_180)),
    _Spoiled("turned-270.png", pages.prose, lambda image: image.transpose(Image.Transpose.ROTATE_270)),
    _Spoiled("tilted-1.png", pages.prose, lambda image: damage.tilted(image, 1.2)),
    _Spoiled("tilted-3.jpg", pages.prose, lambda image: damage.tilted(image, -3)),
    _Spoiled("tilted-7.png", pages.prose, lambda image: damage.tilted(image, 7)),
    _Spoiled("shaded.jpg", pages.prose, damage.shaded),
    _Spoiled("pale.png", pages.prose, lambda image: damage.pale(image, ink=150, paper=190)),
    _Spoiled("dark-paper.png", pages.prose, lambda image: damage.pale(image, ink=20, paper=85)),
    _Spoiled("specks.png", pages.prose, lambda image: damage.specks(image, 0.02)),
    _Spoiled("grain.jpg", pages.prose, lambda image: damage.grain(image, 28)),
    _Spoiled("blurred.jpg", pages.prose, lambda image: damage.blurred(image, 1.6)),
    _Spoiled("72-dpi.png", pages.prose, lambda image: damage.shrunk(image, 0.45)),
    _Spoiled("inverted.png", pages.prose, damage.inverted),
    _Spoiled("black-edges.png", pages.prose, damage.black_edges),
    _Spoiled("transparent.png", pages.prose, damage.transparent),
    _Spoiled("two-columns.png", pages.two_columns, lambda image: damage.tilted(image, 1.5)),
    _Spoiled("ruled-table.png", pages.ruled_table, lambda image: image),
    _Spoiled("open-table.png", pages.open_table, lambda image: damage.tilted(image, -2)),
    _Spoiled("few-words-180.png", pages.few_words, lambda image: image.transpose(Image.Transpose.ROTATE_180)),
    _Spoiled("few-words-90.jpg", pages.few_words, lambda image: image.transpose(Image.Transpose.ROTATE_90)),
    _Spoiled("all-at-once.jpg", pages.prose, damage.all_at_once),
)


def make(folder: Path) -> list[Truth]:
    """Pictures, TIFF and PDF files, each with what a person reads in it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [_picture(folder, seed, one) for seed, one in enumerate(_PICTURES)]
    made += [
        _photo(folder / "photo.jpg"),
        _fax(folder / "three-pages.tiff"),
        _pdf(folder / "scan.pdf", [_plain, _tilted, _upside_down]),
        _pdf(folder / "text-and-scan.pdf", [None, _plain]),
        _pdf(folder / "stamped.pdf", [_plain], stamp="Received 17"),
        _pdf(folder / "bad-layer.pdf", [_plain], hidden=_GARBAGE),
    ]
    return made


def clean(folder: Path) -> list[Truth]:
    """The pages of the pictures as they were before the damage: the most that recognition can reach."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _picture(folder, seed, _Spoiled(f"{Path(one.name).stem}.png", one.page, lambda image: image))
        for seed, one in enumerate(_PICTURES)
    ]


def _plain(image: Image.Image) -> Image.Image:
    return image


def _tilted(image: Image.Image) -> Image.Image:
    return damage.tilted(image, 2.5)


def _upside_down(image: Image.Image) -> Image.Image:
    return image.transpose(Image.Transpose.ROTATE_180)


_GARBAGE = "".join(chr(33 + at * at % 27) + " " * (at % 7 == 0) for at in range(400))
"""What the text layer of a font without a map of its characters looks like."""


def _picture(folder: Path, seed: int, one: _Spoiled) -> Truth:
    page = one.page(seed)
    path = folder / one.name
    image = one.spoil(pages.drawn(page))
    if path.suffix == ".jpg":
        image.save(path, "JPEG", quality=70)
    else:
        image.save(path, _WRITTEN[path.suffix])
    return Truth(path, "scan", page.text, page.tables, order=page.order)


def _photo(path: Path) -> Truth:
    """Taken with the camera turned: only the file says which side is up."""
    page = pages.prose(101)
    image = damage.tilted(damage.shaded(pages.drawn(page)), 1.0).transpose(Image.Transpose.ROTATE_90)
    said = Image.Exif()
    said[0x0112] = 6
    image.save(path, "JPEG", quality=75, exif=said)
    return Truth(path, "scan", page.text, order=page.order)


def _fax(path: Path) -> Truth:
    made = [pages.prose(seed) for seed in (111, 112, 113)]
    images = [
        spoil(pages.drawn(page)).convert("1", dither=Image.Dither.NONE)
        for page, spoil in zip(made, (_plain, _tilted, _upside_down), strict=True)
    ]
    images[0].save(path, "TIFF", save_all=True, append_images=images[1:], compression="group4")
    return Truth(path, "scan", "\n".join(page.text for page in made), order=sum((p.order for p in made), ()))


def _pdf(
    path: Path,
    spoilt: Sequence[Callable[[Image.Image], Image.Image] | None],
    *,
    stamp: str = "",
    hidden: str = "",
) -> Truth:
    """A page per entry: a scan, or for None the text itself."""
    made = [pages.prose(200 + len(path.name) + at) for at in range(len(spoilt))]
    images = [spoil and spoil(pages.drawn(page)) for page, spoil in zip(made, spoilt, strict=True)]
    path.write_bytes(pages.pdf_of(made, images, stamp=stamp, hidden=hidden))
    text = "\n".join([stamp, *(page.text for page in made)])
    return Truth(path, "scan", text, order=sum((page.order for page in made), ()))
