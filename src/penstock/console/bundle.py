"""Reads the console's built files: index.html for a path prefix, and assets named by their hash."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Final

DIST: Final = Path(__file__).parent / "dist"

_KINDS: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
}
_COMPRESSED: Final = frozenset({".js", ".css", ".svg", ".json", ".map", ".html"})
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_RELATIVE: Final = re.compile(r"""\b(src|href)=(["'])\./""")


@dataclass(frozen=True, slots=True)
class BundleFile:
    content: bytes
    gzipped: bytes | None
    media_type: str
    immutable: bool
    """An asset is named by the hash of its content, so that it may be cached forever."""


class Bundle:
    """The files in a folder, `penstock/console/dist` by default; absent until the console is built."""

    def __init__(self, folder: Path = DIST) -> None:
        self._folder = folder

    def index(self, prefix: str) -> bytes | None:
        """The page for a path prefix; None if the console is not built."""
        path = self._folder / "index.html"
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return None
        return _index(path, changed, prefix)

    def asset(self, name: str) -> BundleFile | None:
        return self._file("assets", name)

    def root_file(self, name: str) -> BundleFile | None:
        """A file beside index.html, such as the icon."""
        return None if name == "index.html" else self._file("", name)

    def _file(self, folder: str, name: str) -> BundleFile | None:
        if not _NAME.fullmatch(name) or Path(name).suffix not in _KINDS:
            return None
        path = self._folder / folder / name
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return None
        return _read(path, changed, folder == "assets")


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int, is_asset: bool) -> BundleFile | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    smaller = gzip.compress(content, 6, mtime=0) if path.suffix in _COMPRESSED else None
    return BundleFile(
        content,
        smaller if smaller is not None and len(smaller) < len(content) else None,
        _KINDS[path.suffix],
        is_asset,
    )


@lru_cache(maxsize=16)
def _index(path: Path, _changed: int, prefix: str) -> bytes:
    """Relative addresses would be looked for beside the page that is shown, so they get the prefix."""
    text = path.read_text("utf-8")
    text = _RELATIVE.sub(lambda found: f"{found[1]}={found[2]}{escape(prefix)}/", text)
    told = f'<meta name="penstock-prefix" content="{escape(prefix)}">'
    return re.sub(r"<head[^>]*>", lambda found: found[0] + told, text, count=1).encode()
