"""The class of a picture without text, by its name and size: a logo, or something nobody can tell."""

from __future__ import annotations

from typing import Final

from penstock.pipeline.classify.protocol import FoundClass
from penstock.pipeline.classify.to_classify import ToClassify

VERSION: Final = "images-2"
LARGEST_ICON: Final = 10_000
LARGEST_LOGO: Final = 100_000
NAMES: Final = (
    *("logo", "signature", "signatur", "banner", "icon", "footer", "header", "outlook-"),
    *("facebook", "linkedin", "twitter", "instagram", "youtube", "xing"),
)
NUMBERED: Final = "image0"
"""What mail programs call the pictures of a signature: image001.png, image002.jpg."""


def found_in_picture(asked: ToClassify) -> FoundClass | None:
    """Only for a picture in which no text was found; a large one or one with another name is kept.

    So is one that the rules for mail speak for, such as in a mail about a receipt.
    """
    if not asked.media_type.startswith("image/") or asked.text:
        return None
    if asked.mail is not None and asked.mail.score > 0:
        return None
    name = asked.filename.lower()
    if asked.size <= LARGEST_LOGO and name.startswith((*NAMES, NUMBERED)):
        return _logo(f"a picture without text called {asked.filename}")
    if asked.size <= LARGEST_ICON:
        return _logo(f"a picture without text of {asked.size:,} bytes")
    return None


def _logo(reason: str) -> FoundClass:
    return FoundClass(name="signature_image", score=1.0, reasons=({"reason": reason},), version=VERSION)
