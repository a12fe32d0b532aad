"""`penstock top`: one snapshot, or a view that is refreshed until Ctrl-C."""

from __future__ import annotations

from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.terminal import on_a_terminal


async def test_one_snapshot_says_what_stands_still(penstock: CommandLine, database: Database) -> None:
    async with database.connect("operator") as connection:
        await connection.execute("select queues.enqueue('email', '{}')")
    found = penstock("top", "--json").json
    assert set(found) == {"at", "verdict", "stages", "documents", "queues", "workers"}
    assert [stage["stage"] for stage in found["stages"]] == ["received", "parsing", "embedding", "indexed"]
    assert {queue["queue"]: queue["ready"] for queue in found["queues"]}["email"] == 1
    assert (found["verdict"]["state"], found["workers"]) == ("failing", [])
    plain = penstock("top", "--once").out
    assert "No worker is running, so nothing is processed." in plain
    assert "email" in plain


def test_the_view_is_refreshed_until_ctrl_c_ends_it(penstock: CommandLine, database: Database) -> None:
    shown = on_a_terminal(penstock, "top", "--every", "0.2", press_at="received")
    assert shown.code == 0, shown.text
    assert "Traceback" not in shown.text
    assert "All is well." in shown.text
