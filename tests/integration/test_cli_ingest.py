"""penstock ingest: files and folders in, a summary by status out, and what was accepted stays accepted."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from penstock.cli.demo.files import eml, html, pdf
from penstock.model import Attachment
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def mill(penstock: CommandLine) -> CommandLine:
    """penstock with a tenant `default` and a data folder of its own."""
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default").code == 0
    return ours


def write_files(folder: Path) -> None:
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "notes.md").write_text("# The gate\n\nIt opens at dawn.\n")
    (folder / "deep" / "visit.html").write_bytes(html("A visit", ["# Opening hours", "Sundays from ten."]))
    notice = pdf("Notice", [["# Notice", "The shaft seal is late."]])
    attached = Attachment("notice.pdf", notice, "application/pdf")
    mail = eml("Late", "See the notice.", attachments=[attached])
    (folder / "deep" / "deeper" / "late.eml").write_bytes(mail)
    (folder / ".hidden.md").write_text("nobody sees this")
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("nor this")


def test_a_folder_becomes_documents_and_unchanged_the_second_time(mill: CommandLine) -> None:
    write_files(mill.folder / "papers")
    first = mill("ingest", "papers", "--worker", "--metadata", "year=2025", "--json", timeout=180)
    assert first.code == 0, first.err
    assert first.json["files"] == 3
    assert first.json["counts"] == {"indexed": 4}
    rows = {Path(row["path"]).name: row for row in first.json["documents"]}
    assert set(rows) == {"notes.md", "visit.html", "late.eml", "notice.pdf"}
    assert rows["notice.pdf"]["parent_document_id"] == rows["late.eml"]["document_id"]
    again = mill("ingest", "papers", "--worker", "--json")
    assert again.json["counts"] == {"unchanged": 3}
    known = {row["document_id"] for row in rows.values()}
    assert {row["document_id"] for row in again.json["documents"]} < known
    named = mill("ingest", "papers/.hidden.md", "papers", "--glob", "*.html", "--worker")
    assert named.code == 0, named.err
    assert named.out.splitlines()[1].split() == ["indexed", "1"]
    assert named.out.splitlines()[2].split() == ["unchanged", "1"]
    shown = mill("document", "show", rows["notes.md"]["document_id"], "--json").json
    assert shown["metadata"] == {"year": "2025"}
    assert shown["status"] == "indexed"


def test_unreadable_files_are_listed_with_their_reason_and_the_rest_are_ingested(mill: CommandLine) -> None:
    folder = mill.folder / "papers"
    folder.mkdir()
    (folder / "good.txt").write_text("The wheel turns.")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
    (folder / "empty.txt").touch()
    (folder / "gone.txt").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    ended = mill("ingest", "papers", "missing.txt", "--worker", timeout=180)
    assert ended.code == 1
    lines = ended.err.splitlines()
    assert any(line.startswith("failed  papers/bad.pdf  ") for line in lines), lines
    assert "unreadable  papers/gone.txt  the link is broken" in lines
    assert "unreadable  papers/pipe  not a regular file" in lines
    assert "unreadable  missing.txt  No such file or directory" in lines
    assert any(line.startswith("unreadable  papers/empty.txt  the document is empty") for line in lines)
    assert [line.split() for line in ended.out.splitlines()[1:4]] == [
        ["indexed", "1"],
        ["failed", "1"],
        ["unreadable", "4"],
    ]


def test_without_waiting_documents_are_queued_until_a_worker_comes(mill: CommandLine) -> None:
    (mill.folder / "one.txt").write_text("Water, wood and stone.")
    ended = mill("ingest", "one.txt", "--no-wait", "--external-id", "crm-7", "--json")
    assert (ended.code, ended.json["counts"]) == (0, {"queued": 1})
    document_id = ended.json["documents"][0]["document_id"]
    waiting = mill("explain", document_id, "--json").json
    assert waiting["status"] == "pending"
    assert waiting["waits_for"][0]["reason"]
    assert mill("worker", "--until-empty", "--json").json["closed"] >= 1
    shown = mill("document", "show", document_id, "--json").json
    assert (shown["status"], shown["external_id"]) == ("indexed", "crm-7")


async def test_ctrl_c_leaves_what_was_accepted_in_the_queue(mill: CommandLine, database: Database) -> None:
    for number in range(3):
        (mill.folder / f"{number}.txt").write_text(f"Paper {number}.")

    async def accepted() -> bool:
        async with database.connect() as admin:
            pending = "select count(*) from ingest.document where status = 'pending'"
            return int(await admin.fetchval(pending)) == 3

    with mill.running("ingest", "0.txt", "1.txt", "2.txt", "--no-worker") as child:
        await eventually(accepted, within=60, every=0.1)
        assert child.stderr is not None
        assert "No worker is running" in child.stderr.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
        said = child.stderr.read()
    # The database may know of the third before the command has its answer.
    assert re.search(r"([23]) of 3 files accepted; \1 documents still queued", said), said
    assert "Traceback" not in said
    assert await accepted()


@pytest.mark.parametrize(
    ("words", "code", "kind", "field"),
    [
        (["nothing-here"], 1, "invalid_argument", "PATH"),
        (["a.txt", "b.txt", "--external-id", "7"], 1, "invalid_argument", "external_id"),
        (["a.txt", "--metadata", "year"], 2, "usage", "--metadata"),
        (["a.txt", "--project", "none"], 1, "not_found", "project"),
        (["a.txt", "--tenant", "none"], 1, "not_found", "tenant"),
        ([], 2, "usage", "paths"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_invalid_command_line_is_told_what_is_wrong(
    mill: CommandLine, words: list[str], code: int, kind: str, field: str
) -> None:
    (mill.folder / "nothing-here").mkdir()
    (mill.folder / "a.txt").write_text("a")
    (mill.folder / "b.txt").write_text("b")
    ended = mill("ingest", *words, "--json")
    assert (ended.code, ended.out) == (code, "")
    assert (ended.error["code"], ended.error["field"]) == (kind, field)
    assert ended.error["remedy"]
