"""make demo: documents become searchable, a worker is killed, nothing is lost, nothing stays behind."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from penstock.db.embedded import EmbeddedServer
from tests.plugins.command_line import CommandLine

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def demo() -> Iterator[CommandLine]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    folder.chmod(0o755)
    # Neither the environment nor a .env may lead the demo to another database.
    (folder / ".env").write_text("PENSTOCK_DATABASE_URL=postgresql://nobody@127.0.0.1:1/none\n")
    yield CommandLine(folder, {"PENSTOCK_DATA_DIR": "data"})
    EmbeddedServer(folder / "data" / "demo").destroy()
    shutil.rmtree(folder, ignore_errors=True)


def left_behind(demo: CommandLine) -> list[str]:
    """Processes that work in the demo's folder."""
    found = []
    for process in psutil.process_iter():
        try:
            line = " ".join([process.cwd(), *process.cmdline()])
        except psutil.Error:
            continue
        if str(demo.folder) in line:
            found.append(line)
    return found


def test_the_demo_makes_documents_searchable_though_a_worker_is_killed(demo: CommandLine) -> None:
    ended = demo("demo", "--model", "wordllama", "--json", timeout=170)
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["files"] == 43
    assert found["documents"] == found["indexed"] == found["files"] + found["attachments"]
    assert (found["failed"], found["left"], found["indexed_twice"]) == (0, 0, 0)
    assert found["attachments"] == 8
    assert found["killed_pid"]
    assert found["held_by_killed"] > 0
    best = [search["hits"][0] for search in found["searches"]]
    assert best[0]["title"].startswith("Maintenance contract")
    assert best[1]["title"] == "Inspection of Cedar Mill, March 2025"
    assert best[2]["filename"] == "sluice-gate-receipt.pdf"  # read by OCR
    assert left_behind(demo) == []
    own = demo.with_variables(PENSTOCK_DATA_DIR="data/demo")
    (demo.folder / ".env").unlink()
    more = own("search", "hydraulic oil for the governor", "--limit", "1", "--json").json
    assert more["hits"][0]["filename"] == "delivery-note.png"


def test_the_demo_of_the_queue_kills_a_worker_and_loses_nothing(demo: CommandLine) -> None:
    ended = demo("demo", "--queue", "--tasks", "2000", "--json", timeout=120)
    assert ended.code == 0, ended.err
    assert ended.err == ""
    found = ended.json
    assert found["enqueued"] == 2000 == found["done"] + found["dead"]
    assert (found["lost"], found["left"], found["done_twice"], found["dead"]) == (0, 0, 0, 8)
    assert found["killed_pid"]
    assert found["rescued"] >= found["held_by_killed"] > 0
    assert left_behind(demo) == []
    own = demo.with_variables(PENSTOCK_DATA_DIR="data/demo")
    (demo.folder / ".env").unlink()
    assert len(own("dead", "list", "--json").json["dead"]) == 8


@pytest.mark.parametrize("words", [("--queue", "--tasks", "20000"), ("--model", "wordllama")], ids=" ".join)
def test_ctrl_c_in_the_middle_leaves_nothing_behind(demo: CommandLine, words: tuple[str, ...]) -> None:
    with demo.running("demo", *words) as child:
        assert child.stderr is not None
        deadline = monotonic() + 60
        lines = []
        while "Two workers" not in (line := child.stderr.readline()):
            lines.append(line)
            assert monotonic() < deadline, lines
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
        assert "Traceback" not in child.stderr.read()
    deadline = monotonic() + 5
    while left_behind(demo) and monotonic() < deadline:
        sleep(0.1)
    assert left_behind(demo) == []
