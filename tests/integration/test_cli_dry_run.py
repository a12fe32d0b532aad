"""Every destructive command says what it would do, and how much, before it does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from penstock.cli.program import COMMANDS, build
from tests.plugins.command_line import CommandLine

DESTROYS = {
    "delete",
    "purge",
    "remove",
    "disconnect",
    "revoke",
    "cancel",
    "forget-key",
    "rotate",
    "replay",
    "stop-worker",
    "stop",
    "restore",
}
"""Verbs that end, delete, replace or repeat something."""
BY_AN_OPTION = {"ingest": "--prune"}
"""Commands that delete something only with an option."""
BASH = "complete_bash"
NOT_THESE = {
    "source rotate": "the previous secret stays valid until the next rotation",
    "source restore": "it brings back what was skipped",
    "db stop": "nothing committed is lost, and the next command starts it again",
}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command with its options."""
    if hasattr(command, "commands"):
        for name, each in command.commands.items():
            yield from commands(each, (*path, name))
    else:
        yield " ".join(path), {option for each in command.params for option in each.opts}


def test_every_destructive_command_has_a_dry_run() -> None:
    whole = dict(commands(typer.main.get_command(build(tuple(COMMANDS)))))
    destructive = {name for name in whole if name.rsplit(" ", 1)[-1] in DESTROYS} - set(NOT_THESE)
    assert destructive >= {"restore", "db restore", "reindex stop", "document delete", "dead purge"}
    assert {name for name, option in BY_AN_OPTION.items() if option in whole[name]} == set(BY_AN_OPTION)
    destructive |= set(BY_AN_OPTION)
    assert len(destructive) >= 23
    assert {name for name in destructive if "--dry-run" not in whole[name]} == set()
    assert set(NOT_THESE) <= set(whole), "listed, but there is no such command any more"


def test_a_dry_run_names_the_number_and_changes_nothing(penstock: CommandLine) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    ours("tenant", "create", "default", "--json")
    key = ours("tenant", "key", "create", "--json").json
    ours("project", "create", "other", "--json")
    client = ours("client", "add", "Cedar Mill", "--json").json
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    taken = ours("ingest", "gate.md", "--no-wait", "--json").json["documents"][0]
    task_id = str(ours("explain", taken["document_id"], "--json").json["task_id"])
    calls: dict[tuple[str, ...], int] = {
        ("document", "delete", taken["document_id"]): 1,
        ("document", "retry", "--status", "failed"): 0,
        ("dead", "purge", "--all"): 0,
        ("dead", "replay", "--all"): 0,
        ("task", "cancel", task_id): 1,
        ("project", "delete", "other"): 0,
        ("tenant", "delete", "default"): 1,
        ("tenant", "key", "revoke", "default", key["key_id"]): 1,
        ("client", "remove", client["client_id"]): 1,
        ("vault", "forget-key", "nothing"): 0,
    }
    for words, count in calls.items():
        said = ours(*words, "--dry-run", "--json").json
        assert (said["dry_run"], said["count"]) == (True, count), (words, said)
    assert "Nothing was changed." in ours("tenant", "delete", "default", "--dry-run").out
    assert len(ours("document", "list", "--json").json["documents"]) == 1
    assert ours("task", "show", task_id, "--json").json["state"] in ("ready", "waiting")
    assert ours("tenant", "key", "list", "--json").json["keys"][0]["revoked_at"] is None
    assert len(ours("client", "list", "--json").json["clients"]) == 1
    assert len(ours("project", "list", "--json").json["projects"]) == 2


def test_names_are_completed_from_the_database_and_nothing_is_started_for_it(penstock: CommandLine) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    ours("tenant", "create", "acme", "--json")

    def completed(line: str) -> list[str]:
        asked = {
            "_PENSTOCK_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
        }
        return ours.with_variables(**asked)(fresh=True).out.split()

    assert completed("penstock document list --tenant ac") == ["acme"]
    assert completed("penstock document list --tenant acme --project ") == ["default"]
    assert completed("penstock queue pause ema") == ["email"]
    assert completed("penstock tenant show a") == ["acme"]
    assert completed("penstock tenant key list a") == ["acme"]
    assert completed("penstock project show --tenant acme d") == ["default"]
    ours("source", "create", "--tenant", "acme", "--json")
    for command in ("configure", "skipped", "set-password", "pause"):
        assert completed(f"penstock source {command} --tenant acme w") == ["webhook"], command
    assert "email" in completed("penstock dead list --type e")
    assert "list" in completed("penstock document l")
    away = {"PENSTOCK_DATABASE_URL": "", "PENSTOCK_DATA_DIR": "nowhere"}
    asked = {"_PENSTOCK_COMPLETE": BASH, "COMP_WORDS": "penstock queue pause e", "COMP_CWORD": "3"}
    assert ours.with_variables(**away, **asked)(fresh=True).out.strip() == ""
    assert not (ours.folder / "nowhere").exists()
