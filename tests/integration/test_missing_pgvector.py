"""A document that comes before pgvector waits and is indexed once an administrator has installed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import IndexNotReady
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.workers import eventually

REMOVE = "drop table ingest.chunk_vector, ingest.client_vector; drop extension vector cascade"
WAITS = """
  select count(*) from ingest.document_event
  where document_id = $1 and event = 'waits' and reason_code = 'index_not_ready'
    and message like '%create extension vector%'
"""


async def test_a_document_waits_for_pgvector_and_is_indexed_once_it_is_installed(
    database: Database, tmp_path: Path
) -> None:
    async with database.connect() as admin:
        await admin.execute(REMOVE)
    async with works_on(database, tmp_path) as works, works.working():
        with pytest.raises(IndexNotReady, match="psql -d"):
            await works.engine.index.require()
        taken = await works.hand_in("The supplier pays when the delivery is late.")
        await eventually(lambda: works.value(WAITS, taken.document_id), within=60)
        explained = await works.engine.documents.explain(works.tenant_id, taken.document_id)
        reason = explained.waits_for[0]
        assert reason.reason == "index_not_ready"
        assert "has no pgvector" in reason.explanation
        assert "create extension vector" in reason.remedy
        async with database.connect() as admin:
            await admin.execute("create extension vector")
            task = await admin.fetchval(
                "select task_id from queues.task where task_type = 'ingest-document' order by 1 desc limit 1"
            )
        await eventually(lambda: works.value("select queues.run_now($1)", task))  # not in a minute
        document = await works.settled(taken.document_id)
        assert document.status == "indexed", document.error_message
        assert [hit.document_id for hit in await works.find("late delivery")] == [taken.document_id]
