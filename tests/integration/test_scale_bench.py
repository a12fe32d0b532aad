"""The benchmark of scale at its smallest: its real run records the stages of every document."""

from __future__ import annotations

from pathlib import Path

from bench.documents.place import Place
from bench.scale.real_run import Shape, corpus, real_run
from tests.plugins.database import Database


async def test_a_real_run_records_the_stages_of_every_document_of_every_tenant(
    database: Database, tmp_path: Path
) -> None:
    place = Place(database.admin_url, database.runtime_url, database.operator_url, str(tmp_path))
    shape = Shape(1, 2, corpus(0, 5), tenants=[0, 0, 0, 1, 1], offsets=[0, 0, 0, 0.1, 0.2])
    found = await real_run(place, shape, "wordllama", warm_documents=1)
    assert sorted(one.tenant for one in found.seen) == [0, 0, 0, 1, 1]
    for one in found.seen:
        assert 0 <= one.arrived <= one.began <= one.embedding <= one.indexed <= found.seconds
        assert one.chunks >= 1
        assert one.tokens >= 1
    assert [one.arrived for one in found.seen if one.tenant == 0] == [0, 0, 0]
    assert found.worker_seconds > 0
    assert found.intake_seconds > 0
