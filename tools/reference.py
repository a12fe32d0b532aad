"""Writes the references in docs/ from the code: calls, commands, names, SQL, errors, metrics, defaults.

With --check it writes nothing and fails if a page differs. It needs no database and no network. What explains
is written by hand: in docstrings, help texts and the heads of SQL files, and on the pages
themselves, of which only the parts that the code knows are replaced.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.settings import PREFIX, Settings
from tools import (
    cli_reference,
    error_reference,
    http_reference,
    metric_reference,
    python_reference,
    sql_reference,
)

DOCS = Path(__file__).parents[1] / "docs"
SETTINGS = DOCS / "operate" / "settings.md"
ROW = re.compile(rf"^\| `{PREFIX}(\w+)` \| ([^|]+) \|", re.MULTILINE)


def settings_page() -> str:
    """The page of settings with the defaults that the code has."""

    def row(found: re.Match[str]) -> str:
        default = Settings.model_fields[found[1].lower()].default
        told = found[2].strip()
        if default is None:
            # Of some the default is another setting.
            return found[0] if told in ("none", f"`{PREFIX}DATABASE_URL`") else _row(found[1], "none")
        if isinstance(default, bool):
            return _row(found[1], str(default).lower())
        if isinstance(default, int | float):
            return found[0] if _number(told) == default else _row(found[1], f"{default:,}")
        return found[0] if told.strip("`") == str(default) else _row(found[1], f"`{default}`")

    text = SETTINGS.read_text(encoding="utf-8")
    listed = {name.lower() for name, _ in ROW.findall(text)}
    if unknown := listed ^ set(Settings.model_fields):
        raise SystemExit(f"{SETTINGS.name}: not the settings there are: {', '.join(sorted(unknown))}")
    return ROW.sub(row, text)


def _row(name: str, default: str) -> str:
    return f"| `{PREFIX}{name}` | {default} |"


def _number(text: str) -> float | None:
    try:
        return float(text.strip("`").replace(",", ""))
    except ValueError:
        return None


PAGES: dict[Path, Callable[[], str]] = {
    http_reference.PAGE: http_reference.page,
    cli_reference.PAGE: cli_reference.page,
    sql_reference.PAGE: sql_reference.page,
    sql_reference.QUEUE_PAGE: sql_reference.queue_page,
    error_reference.PAGE: error_reference.page,
    metric_reference.PAGE: metric_reference.page,
    python_reference.PAGE: python_reference.page,
    python_reference.RESULTS_PAGE: python_reference.results_page,
    SETTINGS: settings_page,
}


def main(arguments: Sequence[str]) -> int:
    """0 if every page is, or now is, what the code says."""
    stale = []
    for path, page in PAGES.items():
        current = page()
        if path.is_file() and path.read_text(encoding="utf-8") == current:
            continue
        if list(arguments) == ["--check"]:
            stale.append(str(path.relative_to(DOCS.parent)))
        else:
            path.write_text(current, encoding="utf-8")
    if stale:
        print(f"not what the code is now: {', '.join(stale)}. Run: make generate", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
