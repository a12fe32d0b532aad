"""Locates OCR language data, and says how to install what is missing; nothing is ever downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

EXTRAS: Final = {"eng": "ocr", "deu": "ocr-deu", "jpn": "ocr-jpn"}
"""Languages whose data is a package, and the extra that installs it."""
_SUFFIX: Final = ".traineddata"
_NO_LANGUAGE: Final = frozenset({"osd", "equ"})


def tessdata_folder() -> Path:
    """The data folder of the extra `ocr`, unless the environment names another."""
    return Path(os.environ.get("TESSDATA_PREFIX") or Path(sys.prefix) / "share" / "tessdata")


def installed_languages() -> list[str]:
    """The languages that scans can be read in, by their codes."""
    found = {path.name.removesuffix(_SUFFIX) for path in tessdata_folder().glob(f"*{_SUFFIX}")}
    return sorted(found - _NO_LANGUAGE)


def missing_languages(language: str) -> list[str]:
    """Which of the languages (`eng+deu`) have no data."""
    folder = tessdata_folder()
    return [one for one in language.split("+") if not (folder / f"{one}{_SUFFIX}").is_file()]


def how_to_install(missing: list[str]) -> str:
    """What to type for missing languages: an extra if there is one, otherwise where their files belong."""
    extras = [EXTRAS[one] for one in missing if one in EXTRAS]
    files = [f"{one}{_SUFFIX}" for one in missing if one not in EXTRAS]
    steps = []
    if extras:
        steps.append(f"Run: pip install 'penstock[{','.join(extras)}]'")
    if files:
        steps.append(
            f"Put {' and '.join(files)} of github.com/tesseract-ocr/tessdata_fast into {tessdata_folder()}"
        )
    return "; ".join(steps)
