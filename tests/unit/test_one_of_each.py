"""Sentences about one thing and about none, and what the demo says at its end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
import typer

import penstock.cli
from penstock.api.connect_pages import _progress
from penstock.cli import output
from penstock.cli.demo import command as demo
from penstock.cli.demo.staying import things_to_try
from penstock.cli.reindex.command import _ended
from penstock.documents.reindexes import ReindexRun


@pytest.mark.parametrize(
    ("seen", "expected", "sentence"),
    [
        (1, None, "Syncing: 1 item read so far."),
        (2, None, "Syncing: 2 items read so far."),
        (1, 30, "Syncing: 1 of about 30 items read so far."),
    ],
)
def test_a_page_that_follows_a_sync_counts_one_item_as_one(
    seen: int, expected: int | None, sentence: str
) -> None:
    health = {"state": "syncing", "seen": seen, "expected": expected}
    page = _progress({"source": "gmail", "title": "Gmail", "tenant": "acme", "health": health}, follows=False)
    assert sentence in bytes(page.body).decode()


def test_the_demo_prints_three_things_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    things_to_try("http://127.0.0.1:8000/login/x", 4711)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert any("http://127.0.0.1:8000/login/x" in line for line in lines)
    assert any("kill -9 4711" in line for line in lines)


def test_the_demo_stays_up_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for stdin, stdout in ((True, True), (True, False), (False, True), (False, False)):
        monkeypatch.setattr("sys.stdin.isatty", lambda answer=stdin: answer, raising=False)
        monkeypatch.setattr("sys.stdout.isatty", lambda answer=stdout: answer, raising=False)
        assert demo._is_watched() == (stdin and stdout)


DONE = ReindexRun(
    run_id=UUID(int=7),
    tenant="acme",
    project="papers",
    embedder="wordllama",
    switches=False,
    engine="queue",
    state="done",
    pass_number=1,
    reason=None,
    waits_until=None,
    shards=1,
    closed_shards=1,
    held_shards=0,
    documents=7,
    done=7,
    indexed=1,
    newer=0,
    gone=0,
    failed=6,
    chunks=1,
    embedded=1,
    reused=0,
    embedded_tokens=10,
    documents_per_second=None,
    eta_seconds=None,
    eta_low=None,
    eta_high=None,
    by="test",
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    task_id=None,
)


@pytest.mark.parametrize(
    ("failed", "sentence"),
    [
        (1, "1 document could not be re-indexed; if it was indexed, it keeps the old version"),
        (6, "6 documents could not be re-indexed; those that were indexed keep the old version"),
    ],
)
def test_a_document_that_never_had_a_version_is_not_said_to_keep_one(
    capsys: pytest.CaptureFixture[str], failed: int, sentence: str
) -> None:
    with pytest.raises(typer.Exit):
        _ended(replace(DONE, failed=failed), as_json=False, waited=True)
    said = capsys.readouterr()
    assert "1 document re-indexed" in said.out
    assert "1 text embedded" in said.out
    assert sentence in said.err


def test_an_empty_list_says_so_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output.table(("queue",), [])
    assert not capsys.readouterr().out, "a program that reads a pipe counts lines"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    output.table(("queue",), [])
    assert capsys.readouterr().out.startswith("No ")


def test_every_list_says_what_there_is_none_of() -> None:
    cli = Path(penstock.cli.__path__[0])
    said = [text for path in cli.rglob("*.py") for text in re.findall(r'empty=f?"([^"]+)"', path.read_text())]
    assert len(said) > 20
    assert [text for text in said if not text.startswith("No ")] == []
