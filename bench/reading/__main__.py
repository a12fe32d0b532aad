"""`python -m bench reading`: generated files of known content, read by Penstock and by other libraries."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path

from bench import machine
from bench.reading import penstock_reading, report, speed
from bench.reading.measure import Measured, measure
from bench.reading.peers import PEERS, missing, reader_of
from bench.reading.truth import Truth
from bench.report import RESULTS

SETS = ("pdf", "office", "open_formats", "web", "markup", "texts", "scans")
PACKAGES = ("penstock", "pypdfium2", "xberg", "kreuzberg", "markitdown", "tokenizers")


def make(folder: Path, sets: Iterable[str]) -> list[Truth]:
    found: list[Truth] = []
    for name in sets:
        place = folder / name
        place.mkdir()
        found += import_module(f"bench.reading.made.{name}").make(place)
    return found


def read_by_all(truths: Sequence[Truth], absent: Sequence[str]) -> dict[str, Measured]:
    """What each reader that is installed made of the files it is meant for."""
    found = {report.OURS: measure(truths, lambda _: penstock_reading.read)}
    for name in PEERS:
        if name not in absent:
            found[name] = measure(truths, partial(reader_of, name))
    return {name: one for name, one in found.items() if one.means}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench reading", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, help="some of the sets")
    parser.add_argument("--no-speed", action="store_true", help="leave the files of 3 MB out")
    options = parser.parse_args(words)
    absent, started = missing(), datetime.now(UTC)
    facts: dict[str, object] = {
        "date": started.isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench reading", *words]),
        "machine": machine.describe(None),
        "versions": machine.versions([name for name in PACKAGES if name not in absent], None),
        "not installed, so not compared": ", ".join(absent) or "none",
    }
    with tempfile.TemporaryDirectory(prefix="penstock-reading-") as folder:
        spent = {} if options.no_speed else speed.seconds_per_mb(Path(folder))
        truths = make(Path(folder), options.only)
        found = read_by_all(truths, absent)
    facts["seconds"] = round((datetime.now(UTC) - started).total_seconds())
    said = report.page(facts, Counter(truth.kind for truth in truths), found, spent)
    print(said)
    if tuple(options.only) == SETS and spent and not absent:
        kept = {reader: asdict(one) for reader, one in found.items()}
        result = {**facts, "readers": kept, "seconds_per_mb": spent}
        (RESULTS / "reading.md").write_text(said)
        (RESULTS / "reading.json").write_text(json.dumps(result, indent=1) + "\n")
    return 1 if report.beaten(found) or report.slow(spent) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
