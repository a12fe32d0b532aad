"""The Chromium of this machine, for benches and tests of the console."""

from __future__ import annotations

import shutil
from typing import Final

FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Its program; None if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def headless_chromium() -> str | None:
    """The build without windows, which takes half the processor time; Chromium itself where it is missing."""
    return shutil.which("chromium-headless-shell") or chromium()
