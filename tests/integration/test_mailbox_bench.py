"""The benchmark of arriving mail at its smallest: it runs, and what does not depend on time is correct."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.documents.place import Place
from bench.mailbox.arriving import PARTS, arrivals, figures
from bench.mailbox.services import mail_services
from tests.plugins.database import Database


@pytest.mark.timeout(240)
async def test_a_mail_is_found_and_its_time_is_the_sum_of_its_parts(
    database: Database, tmp_path: Path
) -> None:
    place = Place(database.admin_url, database.runtime_url, database.operator_url, str(tmp_path))
    async with mail_services(place, PENSTOCK_PARSE_PROCESSES="1") as here:
        measured = await arrivals(here, 2, warm=0)
    assert [len(each.parts) for each in measured] == [len(PARTS)] * 2
    assert [sum(each.parts) for each in measured] == pytest.approx([each.total for each in measured])
    assert all(seconds > 0 for each in measured for seconds in each.parts)
    told = figures(measured)
    assert 0 < told["p50"] <= told["p95"] == told["slowest"]
