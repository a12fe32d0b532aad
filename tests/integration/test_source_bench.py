"""The benchmark of sources at its smallest: it runs, and what does not depend on time is correct."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.documents.place import Place
from bench.sources.__main__ import Contacts, simulated
from bench.sources.syncing import bare, sync
from tests.plugins.database import Database

FEW = 150
COMPANIES, DEALS = FEW // 50, 1


@pytest.mark.timeout(180)
async def test_an_unchanged_sync_embeds_and_writes_nothing(database: Database, tmp_path: Path) -> None:
    place = Place(database.admin_url, database.runtime_url, database.operator_url, str(tmp_path))
    async with simulated(FEW) as told:
        ours = await sync(place, told)
        loop = await bare(place, told)
    assert ours["items"] == ours["documents"] == FEW + COMPANIES + DEALS
    assert loop["items"] == FEW + COMPANIES
    assert 0 < ours["texts"] <= ours["items"] + ours["clients"]
    assert (ours["again_texts"], ours["again_written"]) == (0, 0)
    assert ours["peak_mib"] > 0


def test_every_required_figure_is_judged() -> None:
    figures = {"rate": 300.0, "ratio": 0.6, "again_texts": 0, "faster": 6.0, "peak_mib": 100.0}
    medians = {"penstock": figures, "penstock, a tenth": figures, "bare loop": figures}
    assert all(verdict.passed for verdict in Contacts().judge(medians))
    slow = {**figures, "rate": 200.0, "again_texts": 1, "faster": 4.0, "peak_mib": 130.0}
    failed = [v.claim for v in Contacts().judge({**medians, "penstock": slow}) if not v.passed]
    assert len(failed) == 4
