"""A sync that no worker can run: the command says so and ends, and the sync is kept for a worker."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.command_line import CommandLine


def test_adding_or_syncing_a_source_says_that_no_worker_is_running_and_does_not_wait(
    penstock: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "delivery.md").write_text("# Delivery\n\nThe supplier pays.\n")
    added = penstock("source", "add", "folder", str(folder), "--name", "contracts")
    assert added.code == 0, added.err
    assert "No worker is running" in added.err
    assert "penstock worker" in added.err
    assert "Added folder source" in added.out
    synced = penstock("source", "sync", "contracts", "--json")
    assert synced.code == 0, synced.err
    assert synced.json["job"] is None
    assert "No worker is running" in synced.err
    quiet = penstock("source", "sync", "contracts", "--no-wait")
    assert quiet.code == 0, quiet.err
    ran = penstock("worker", "--until-empty", timeout=120)
    assert ran.code == 0, ran.err
    shown = penstock("source", "show", "contracts", "--json").json
    assert (shown["health"]["state"], shown["documents"]) == ("healthy", 1)
