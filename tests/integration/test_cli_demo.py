"""make demo: a worker is killed, nothing is lost, and nothing of it stays behind."""

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


def test_the_demo_kills_a_worker_and_loses_nothing(demo: CommandLine) -> None:
    ended = demo("demo", "--tasks", "2000", "--json", timeout=120)
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


def test_ctrl_c_in_the_middle_leaves_nothing_behind(demo: CommandLine) -> None:
    with demo.running("demo", "--tasks", "20000") as child:
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
