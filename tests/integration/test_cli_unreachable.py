"""A command that cannot use its database says in one line what is wrong and what to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.command_line import CommandLine
from tests.plugins.plain_server import PlainServer

PASSWORD = "secret"
COMMANDS = (("queue", "stats"), ("document", "list"), ("tenant", "list"), ("up", "--port", "0"))


def at(server: PlainServer, folder: Path, *, password: str = PASSWORD, database: str) -> CommandLine:
    url = server.url("ann", password, database)
    names = ("DATABASE", "OPERATOR", "ADMIN")
    return CommandLine(folder, {f"PENSTOCK_{name}_URL": url for name in names})


def refusal(penstock: CommandLine, words: tuple[str, ...]) -> str:
    """The one line a command ends with."""
    ended = penstock(*words)
    assert ended.code == 3, (words, ended)
    lines = [line for line in ended.err.splitlines() if not line.startswith("Postgres runs")]
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_each_state_of_a_server_has_its_remedy(
    plain_server: PlainServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    plain_server.psql(f"create role ann login password '{PASSWORD}'", database="postgres")
    wrong = refusal(at(plain_server, tmp_path, password="guessed", database="postgres"), words)
    assert 'password authentication failed for user "ann"' in wrong
    assert "Correct the user and the password in PENSTOCK_" in wrong
    assert "guessed" not in wrong

    nowhere = refusal(at(plain_server, tmp_path, database="shop"), words)
    assert 'database "shop" does not exist' in nowhere
    assert "create database shop" in nowhere

    empty = refusal(at(plain_server, tmp_path, database="postgres"), words)
    assert "Run: penstock migrate" in empty

    plain_server.stop()
    down = refusal(at(plain_server, tmp_path, database="postgres"), words)
    assert f"127.0.0.1:{plain_server.port}/postgres: connection refused" in down
    assert "Start the server, or correct PENSTOCK_" in down


def test_migrate_says_the_same(plain_server: PlainServer, tmp_path: Path) -> None:
    assert "PENSTOCK_" in refusal(at(plain_server, tmp_path, password="x", database="postgres"), ("migrate",))
    plain_server.stop()
    assert "connection refused" in refusal(at(plain_server, tmp_path, database="postgres"), ("migrate",))
