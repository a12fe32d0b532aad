"""The program itself: quick help, stdout for data, stderr for the rest, one line for an error, exit codes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from penstock.cli.program import COMMANDS, GROUPS
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.environment import restore_ctrl_c

LOADED = """
import sys
sys.argv = ["penstock", *{words}]
from penstock.cli import main
main()
heavy = {{"asyncpg", "pydantic", "rich", "asyncio", "prometheus_client"}} & set(sys.modules)
print("loaded:", *sorted(heavy))
"""


GROUPS_OF_COMMANDS = (
    *("document", "model", "mcp", "tenant", "tenant key", "project", "source", "message", "process"),
    *("queue", "task", "dead", "schedule", "db", "new"),
)


@pytest.mark.parametrize("words", [["--help"], ["version"], ["version", "--json"]], ids=" ".join)
def test_help_and_version_load_nothing_heavy(words: list[str]) -> None:
    code = LOADED.format(words=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_help_tells_the_exit_codes(penstock: CommandLine) -> None:
    ended = penstock("--help")
    assert ended.code == 0
    assert "3    the database cannot be reached or is not migrated" in ended.out
    assert "130  interrupted" in ended.out


def test_help_lists_every_command_under_one_heading(penstock: CommandLine) -> None:
    lines = penstock("--help").out.splitlines()
    for heading, commands in GROUPS.items():
        start = lines.index(f"{heading}:") + 1
        listed = [line.split()[0] for line in lines[start : start + len(commands)]]
        assert listed == list(commands)
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


@pytest.mark.parametrize("group", GROUPS_OF_COMMANDS)
def test_the_list_of_a_groups_commands_cuts_no_sentence_off(penstock: CommandLine, group: str) -> None:
    ended = penstock(*group.split(), "--help")
    listed = ended.out.partition("Commands:\n")[2]
    assert listed, ended
    assert "..." not in listed


def test_a_mistyped_command_is_wrong_usage_and_gets_a_hint(penstock: CommandLine) -> None:
    ended = penstock("quue", "stats")
    assert (ended.code, ended.out) == (2, "")
    assert "Did you mean" in ended.err
    assert "queue" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "a", "--limit", "0"], "'--limit': it must be greater than or equal to 1"),
        (["search", "a", "--mode", "x"], "'--mode': 'x' is not one of 'hybrid', 'vector', 'text'"),
        (
            ["search", "a", "--created-after", "soon"],
            "--created-after: 'soon' is not a time; write 2025-01-31",
        ),
        (["search", ""], "QUERY: it must have at least 1 character"),
    ],
)
def test_an_invalid_value_is_explained_in_our_own_words(
    penstock: CommandLine, words: list[str], said: str
) -> None:
    for ended in (penstock(*words), penstock(*words, "--json")):
        assert ended.code == 2
        assert f"Invalid value for {said}" in ended.err


def test_data_goes_to_stdout_and_nothing_else_does(penstock: CommandLine) -> None:
    ended = penstock("queue", "stats")
    assert ended.err == ""
    header, *rows = ended.out.splitlines()
    assert header.split()[:3] == ["queue", "paused", "ready"]
    assert ["default", "no", "0"] in [row.split()[:3] for row in rows]


def test_an_error_is_one_line_with_its_remedy(penstock: CommandLine) -> None:
    ended = penstock("task", "show", "99")
    assert (ended.code, ended.out) == (1, "")
    line = "error: there is no task 99 (task_id). List the tasks: penstock task list.\n"
    assert ended.err == line


def test_debug_shows_the_traceback(penstock: CommandLine) -> None:
    assert "Traceback" in penstock("--debug", "task", "show", "99").err


def test_a_server_that_does_not_answer_is_exit_3(penstock: CommandLine) -> None:
    away = penstock.with_variables(PENSTOCK_OPERATOR_URL="postgresql://nobody@127.0.0.1:1/none")
    ended = away("queue", "stats")
    assert ended.code == 3
    assert ended.err.startswith("error: The database cannot be reached: ")
    assert "PENSTOCK_OPERATOR_URL" in ended.err
    assert "Traceback" not in ended.err


def test_a_database_that_is_not_migrated_is_exit_3(penstock: CommandLine, empty_database: Database) -> None:
    empty = penstock.with_variables(
        PENSTOCK_OPERATOR_URL=empty_database.operator_url, PENSTOCK_ADMIN_URL=empty_database.admin_url
    )
    ended = empty("queue", "stats", "--json")
    assert (ended.code, ended.error["code"]) == (3, "not_migrated")
    assert ended.error["remedy"] == "Run: penstock migrate"
    check = empty("migrate", "--check", "--json")
    assert check.code == 3
    assert check.json["pending"]
    assert empty("migrate").code == 0
    assert empty("migrate", "--check").code == 0
    assert "nothing to do" in empty("migrate").out


def test_a_command_that_only_reads_creates_no_database(penstock: CommandLine) -> None:
    alone = CommandLine(penstock.folder, {"PENSTOCK_DATA_DIR": "data"})
    ended = alone("queue", "stats")
    assert ended.code == 3
    assert "penstock migrate" in ended.err
    assert not (penstock.folder / "data").exists()


def test_a_bad_setting_names_its_variable(penstock: CommandLine) -> None:
    ended = penstock.with_variables(PENSTOCK_CONCURRENCY="0")("queue", "stats", "--json")
    assert (ended.code, ended.error["field"]) == (1, "PENSTOCK_CONCURRENCY")


def test_a_login_without_the_right_is_told_which_it_needs(penstock: CommandLine, database: Database) -> None:
    runtime = penstock.with_variables(PENSTOCK_OPERATOR_URL=database.runtime_url)
    ended = runtime("queue", "pause", "default", "--json")
    assert (ended.code, ended.error["code"]) == (1, "not_allowed")
    assert "PENSTOCK_OPERATOR_URL" in ended.error["remedy"]


def test_a_closed_output_pipe_ends_the_command_quietly(penstock: CommandLine) -> None:
    with penstock.running("queue", "stats", "--watch", "--every", "0.1", "--json") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert '"queues"' in child.stdout.readline()
        child.stdout.close()
        assert child.wait(20) == 0
        assert child.stderr.read() == ""


def test_ctrl_c_leaves_no_traceback(penstock: CommandLine) -> None:
    with penstock.running("queue", "stats", "--watch") as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 130
        assert child.stderr.read() == ""


def test_ctrl_c_reaches_a_command_though_the_tests_run_in_the_background(penstock: CommandLine) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for a job with &
    try:
        restore_ctrl_c()
        test_ctrl_c_leaves_no_traceback(penstock)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_child_process_reacts_to_ctrl_c_even_if_its_parent_ignores_it(penstock: CommandLine) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with penstock.running(
            "--ends-with-parent", "queue", "stats", "--watch", stdin=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert child.wait(20) == 130
    finally:
        signal.signal(signal.SIGINT, before)
