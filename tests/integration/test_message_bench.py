"""The benchmark of messages at its smallest: it runs, and what does not depend on time is correct."""

from __future__ import annotations

from pathlib import Path

from bench.documents.place import Place
from bench.messages.sending import bare, supervised
from tests.plugins.database import Database

FEW = 20


async def test_each_message_has_one_attempt_one_success_fact_and_is_taken_once(
    database: Database, tmp_path: Path
) -> None:
    place = Place(database.admin_url, database.runtime_url, database.operator_url, str(tmp_path))
    found = await supervised(place, FEW)
    assert (found["facts"], found["attempts"]) == (FEW, FEW)
    assert (found["taken"], found["distinct"]) == (FEW, FEW)
    assert found["rate"] > 0


async def test_the_bare_loop_sends_the_same_messages() -> None:
    assert (await bare(FEW, connections=2))["taken"] == FEW
