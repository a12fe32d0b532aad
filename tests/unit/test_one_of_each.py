"""Sentences about one thing, and what the demo says at its end."""

from __future__ import annotations

import pytest

from penstock.api.connect_pages import _progress
from penstock.cli.demo import command as demo
from penstock.cli.demo.staying import things_to_try


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
