"""make demo: documents, accounts and mails become searchable, a worker is killed, nothing is lost or left."""

from __future__ import annotations

import json
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import httpx2
import psutil
import pytest

from penstock.db.embedded.server import EmbeddedServer
from tests.plugins.busy import stretched
from tests.plugins.command_line import CommandLine
from tests.plugins.demo_pictures import can_be_taken, take_pictures
from tests.plugins.prepared_cluster import PutCluster
from tests.plugins.terminal import on_a_terminal

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.slow("the demo as a user sees it: its own server, worker, embedder and console"),
]


@pytest.fixture
def demo() -> Iterator[CommandLine]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    folder.chmod(0o755)
    # Neither the environment nor a .env may lead the demo to another database.
    (folder / ".env").write_text("PENSTOCK_DATABASE_URL=postgresql://nobody@127.0.0.1:1/none\n")
    yield CommandLine(folder, {"PENSTOCK_DATA_DIR": "data"})
    EmbeddedServer(folder / "data" / "demo").destroy()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def second_demo(demo: CommandLine, put_cluster: PutCluster) -> CommandLine:
    """As `demo`, in a folder with the migrated database of an earlier one."""
    put_cluster(demo.folder / "data" / "demo")
    return demo


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


def test_the_demo_makes_documents_searchable_though_a_worker_is_killed_and_stays_up(
    demo: CommandLine,
) -> None:
    with demo.running("demo", "--model", "wordllama", "--json", "--stay") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        lines = [child.stdout.readline() for _ in range(2)]
        assert all(lines), child.stderr.read()
        found, staying = map(json.loads, lines)
        page = httpx2.get(staying["console"], follow_redirects=True, timeout=30)
        assert page.status_code == 200, "the console can be opened while the demo stays up"
        assert "Penstock" in page.text
        shown = take_pictures(staying["console"]) if can_be_taken() else None
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 0, child.stderr.read()
    if shown is not None:
        assert "1 worker stopped answering" in shown["overview"], "the killed one"
        assert "Foundry Fox, invoice 4711" in shown["document"]
        assert all(kind in shown["sources"].lower() for kind in ("hubspot", "quickbooks", "outlook", "gmail"))
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
    assert {source["kind"]: source["health"] for source in found["sources"]} == dict.fromkeys(
        ("hubspot", "google_drive", "quickbooks", "gmail", "outlook"), "healthy"
    )
    assert all(source["documents"] > 0 for source in found["sources"])
    facts = {fact["name"]: fact["source"] for fact in found["client"]["facts"]}
    assert (facts["open_deals"], facts["invoice_history"]) == ("hubspot", "quickbooks")
    assert found["client"]["name"] in best[3]["title"], "a hit from a connected account"
    arrived = {mail["provider"]: mail for mail in found["mail"]["arrived"]}
    assert set(arrived) == {"outlook", "gmail"}
    assert all(0 < mail["notified"] <= mail["indexed"] < 60 for mail in arrived.values())
    assert best[4]["filename"] == arrived["outlook"]["filename"], "the attachment is found"
    dropped = {each["filename"]: each["skip_reason"] for each in found["mail"]["skipped"]}
    assert dropped == {"image001.png": "signature_image", "autumn-prices.png": "signature_image"}
    assert found["mail"]["restored"]["state"] == "restored"
    assert best[5]["filename"] == found["mail"]["restored"]["filename"] == "autumn-prices.png"
    assert left_behind(demo) == []
    own = demo.with_variables(PENSTOCK_DATA_DIR="data/demo")
    (demo.folder / ".env").unlink()
    client = own("client", "show", found["client"]["name"])
    assert "quickbooks  invoices/" in client.out, client.err
    assert {row["next_sync_at"] for row in own("source", "list", "--json").json["sources"]} == {None}
    skipped = own("source", "skipped", "outlook")
    assert "shown_image: the text shows this picture" in skipped.out, skipped.err
    assert "penstock source restore" in skipped.err
    more = own("search", "hydraulic oil for the governor", "--limit", "1", "--json").json
    assert more["hits"][0]["filename"] == "delivery-note.png"


def test_without_a_terminal_the_demo_tells_its_story_and_ends_by_itself(second_demo: CommandLine) -> None:
    ended = second_demo("demo", "--model", "wordllama", timeout=stretched(200))
    assert ended.code == 0, ended.err
    assert left_behind(second_demo) == []
    said = ended.err.splitlines()
    for step in ("Postgres in ", "Two workers: processes ", "43 files in "):
        assert any(line.startswith(step) for line in said), (step, ended.err)
    counted = {"documents": 51, "indexed": 51, "failed": 0, "lost": 0, "indexed twice": 0}
    for what, number in counted.items():
        assert re.search(rf"^{what} +{number}  ", ended.out, re.MULTILINE), (what, ended.out)
    for provider in ("hubspot", "google_drive", "quickbooks", "gmail", "outlook"):
        assert re.search(rf"^{provider} +[1-9]", ended.out, re.MULTILINE), (provider, ended.out)
    _, _, mails = ended.out.partition("mail arrived")
    arrived = [line for line in mails.splitlines()[1:3] if re.search(r"\d s +\d+\.\d\d s +\S+\.pdf$", line)]
    assert {line.split()[0] for line in arrived} == {"outlook", "gmail"}, mails
    assert "Restored autumn-prices.png" in mails
    assert "\nNothing was lost.\n" in mails
    assert "export PENSTOCK_DATA_DIR=data/demo" in mails, "what can be looked at afterwards"
    assert "Ctrl-C" not in ended.out + ended.err, "nothing stays up, so there is nothing to stop or to open"
    assert "Watch it in the console" not in ended.err


def test_on_a_terminal_the_demo_names_three_things_to_try_and_stays_up_until_ctrl_c(
    second_demo: CommandLine,
) -> None:
    shown = on_a_terminal(
        second_demo, "demo", "--model", "wordllama", press_at="Press Ctrl-C to stop.", within=stretched(200)
    )
    assert shown.code == 0, shown.text
    # A terminal of a hundred columns wraps lines.
    said = re.sub(r"\s+", " ", shown.text)
    assert re.search(r"Three things to try: 1\. Open the console: http://127\.0\.0\.1:\d+/login/\S+", said), (
        said
    )
    assert " 2. Press / there and ask: " in said
    assert re.search(r" 3\. kill -9 \d+ ", said), said
    assert "Traceback" not in said
    assert left_behind(second_demo) == []


def test_the_demo_of_the_queue_kills_a_worker_and_loses_nothing(second_demo: CommandLine) -> None:
    ended = second_demo("demo", "--queue", "--tasks", "2000", "--json", timeout=120)
    assert ended.code == 0, ended.err
    assert ended.err == ""
    found = ended.json
    assert found["enqueued"] == 2000 == found["done"] + found["dead"]
    assert (found["lost"], found["left"], found["done_twice"], found["dead"]) == (0, 0, 0, 8)
    assert found["killed_pid"]
    assert found["rescued"] >= found["held_by_killed"] > 0
    assert left_behind(second_demo) == []
    own = second_demo.with_variables(PENSTOCK_DATA_DIR="data/demo")
    (second_demo.folder / ".env").unlink()
    assert len(own("dead", "list", "--json").json["dead"]) == 8


@pytest.mark.parametrize("words", [("--queue", "--tasks", "20000"), ("--model", "wordllama")], ids=" ".join)
def test_ctrl_c_in_the_middle_leaves_nothing_behind(second_demo: CommandLine, words: tuple[str, ...]) -> None:
    with second_demo.running("demo", *words) as child:
        assert child.stderr is not None
        deadline = monotonic() + stretched(60)
        lines = []
        while "Two workers" not in (line := child.stderr.readline()):
            lines.append(line)
            assert monotonic() < deadline, lines
        child.send_signal(signal.SIGINT)
        assert child.wait(stretched(60)) == 130
        assert "Traceback" not in child.stderr.read()
    deadline = monotonic() + stretched(5)
    while left_behind(second_demo) and monotonic() < deadline:
        sleep(0.1)
    assert left_behind(second_demo) == []
