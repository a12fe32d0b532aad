"""Locates OCR language data; nothing is ever downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def tessdata_folder() -> Path:
    """The data folder of the extra `ocr`, unless the environment names another."""
    return Path(os.environ.get("TESSDATA_PREFIX") or Path(sys.prefix) / "share" / "tessdata")


def missing_languages(language: str) -> list[str]:
    """Which of the languages (`eng+deu`) have no data."""
    folder = tessdata_folder()
    return [one for one in language.split("+") if not (folder / f"{one}.traineddata").is_file()]
