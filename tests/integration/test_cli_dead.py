"""Replay and purge say how many first, ask on a terminal, and do nothing unasked elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.terminal import on_a_terminal

DEAD = 25
THREE_TIMES = """
from penstock import Context, Penstock, Table

app = Penstock()

@app.task(max_attempts=3, retry=Table((0.0, 0.0, 0.0)))
async def three_times(payload: dict[str, int], ctx: Context) -> None:
    if ctx.attempt < 3:
        raise ConnectionError("the far end hung up")
    raise LookupError("no such page")
"""


@pytest.fixture
def shop(penstock: CommandLine) -> CommandLine:
    """A database with dead letters of one cause."""
    assert penstock("worker", "--app", "shop", "--until-empty").code == 0
    enqueue = f"select queues.enqueue_many('shop.break', array_fill('{{}}'::jsonb, array[{DEAD}]))"
    assert penstock("db", "psql", "--", "-qc", enqueue).code == 0
    assert penstock("worker", "--app", "shop", "--until-empty").code == 0
    assert len(penstock("dead", "list", "--json").json["dead"]) == DEAD
    return penstock


def count(shop: CommandLine) -> int:
    found: int = shop("queue", "stats", "shop", "--json").json["queues"][0]["dead"]
    return found


def test_without_a_terminal_or_yes_nothing_is_done(shop: CommandLine) -> None:
    for command in ("replay", "purge"):
        ended = shop("dead", command, "--all")
        assert (ended.code, ended.out) == (1, "")
        assert f"{DEAD} dead letters" in ended.err
        assert "Add --yes" in ended.err
    assert count(shop) == DEAD


def test_a_declined_question_changes_nothing(shop: CommandLine) -> None:
    declined = on_a_terminal(shop, "dead", "purge", "--all", typed="n\n")
    assert declined.code == 1
    assert f"Delete {DEAD} dead letters?" in declined.text
    assert "Nothing was changed." in declined.text
    assert count(shop) == DEAD


def test_a_filter_is_required_and_all_excludes_other_filters(shop: CommandLine) -> None:
    assert shop("dead", "purge", "--yes").code == 2
    assert shop("dead", "replay", "--all", "--type", "shop.break", "--yes").code == 2


def test_replay_takes_what_the_filter_names_up_to_the_limit(shop: CommandLine) -> None:
    cause = shop("dead", "list", "--by-fingerprint", "--json").json["causes"][0]
    assert cause["letters"] == DEAD
    assert shop("dead", "replay", "--fingerprint", "other", "--yes").code == 1
    found = shop("dead", "replay", "--fingerprint", cause["fingerprint"], "--limit", "10", "--yes", "--json")
    assert found.json == {"replayed": 10}
    assert count(shop) == DEAD - 10
    assert shop("dead", "purge", "--code", "RuntimeError", "--reason", "exhausted", "--yes").code == 0
    assert count(shop) == 0


def test_a_dead_letter_with_three_errors_can_be_shown(penstock: CommandLine) -> None:
    (penstock.folder / "three_times.py").write_text(THREE_TIMES)
    assert penstock("worker", "--app", "three_times", "--until-empty").code == 0
    assert penstock("db", "psql", "--", "-qc", "select queues.enqueue('three_times', '{}')").code == 0
    assert penstock("worker", "--app", "three_times", "--until-empty").code == 0
    [letter] = penstock("dead", "list", "--json").json["dead"]
    lines = penstock("dead", "show", str(letter["task_id"])).out.splitlines()
    assert lines[0] == (
        f"Task {letter['task_id']} (three_times) is dead: it has used up its attempts (exhausted)."
    )
    assert "after       3 attempts, 0 lost workers" in lines
    first, *rest = [line for line in lines if line.startswith("  attempt ")]
    assert first.startswith("  attempt 1, ")
    assert first.endswith("ConnectionError: the far end hung up")
    assert [line.split(": ", 1)[1] for line in rest] == ["the same error", "LookupError: no such page"]
    frames = [line for line in lines if line.startswith("      ")]
    assert len([line for line in frames if line.endswith("in three_times")]) == 2
    assert lines[-2] == f"Fix the cause, then run: penstock dead replay {letter['task_id']}"
    assert lines[-1].endswith(letter["fingerprint"])
    assert max(map(len, lines)) < 200


def test_text_written_by_tasks_cannot_control_the_terminal(shop: CommandLine) -> None:
    out = shop("dead", "list").out
    assert "\x1b" not in out
    assert "\\x1b[31mstock" in out


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 1, DEAD), ("y\n", 0, 0)])
def test_on_a_terminal_the_command_asks_for_confirmation(
    shop: CommandLine, answer: str, code: int, left: int
) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        done = subprocess.run(
            [sys.executable, "-m", "penstock", "dead", "purge", "--all"],
            cwd=shop.folder,
            env={"PATH": os.environ["PATH"], **shop.variables},
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert f"Delete {DEAD} dead letters?" in done.stderr
    assert done.returncode == code
    assert count(shop) == left


async def test_replayed_letters_are_not_replayed_again_when_they_die_meanwhile(
    shop: CommandLine, database: Database
) -> None:
    assert shop("dead", "replay", "--all", "--yes", "--json").json == {"replayed": DEAD}
    async with database.connect() as connection:
        assert await connection.fetchval("select count(*) from queues.audit where action = 'replay'") == DEAD
