"""Where the data of OCR's languages is; nothing is ever downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def tessdata_folder() -> Path:
    """Where the extra `ocr` puts its data, unless the environment names another place."""
    return Path(os.environ.get("TESSDATA_PREFIX") or Path(sys.prefix) / "share" / "tessdata")


def missing_languages(language: str) -> list[str]:
    """Which of `eng+deu` has no data."""
    folder = tessdata_folder()
    return [one for one in language.split("+") if not (folder / f"{one}.traineddata").is_file()]
