"""A document whose chunks fit in one batch is published by one call; what was embedded for it is not lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.simulators import EmbeddingsSimulator, Fault, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."

FAIL_ONCE = """
create sequence failures;
grant usage on sequence failures to public;
create function fail_once() returns trigger language plpgsql as $$
begin
  if nextval('public.failures') = 1 then
    raise 'the disk is full' using errcode = '53100';
  end if;
  return null;
end $$;
create trigger fail_once after insert on ingest.chunk for each statement execute function public.fail_once();
"""


def _openai(url: str) -> dict[str, Any]:
    return {"embedder": "openai", "openai_base_url": f"{url}/v1", "openai_api_key": KEY}


async def test_what_was_embedded_is_kept_if_the_document_cannot_be_published(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url, works_on(database, tmp_path, **_openai(url)) as works:
        async with database.connect("admin") as admin:
            await admin.execute(FAIL_ONCE)
        async with works.working():
            document = await works.index(NOTE)
        events = await works.event_names(document.document_id)
        assert events.count("attempt_failed") == 1
        assert simulator.texts == 1
        assert await works.value("select sum(texts) from accounts.usage") == 1


async def test_a_failed_publication_leaves_nothing_of_its_generation(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with database.connect("admin") as admin:
            await admin.execute(FAIL_ONCE)
        async with works.working():
            document = await works.index(NOTE)
        generations = await works.value("select array_agg(distinct generation) from ingest.chunk")
        assert generations == await works.value(
            "select array[live_generation] from ingest.document where document_id = $1", document.document_id
        )
        assert await works.value("select count(distinct generation) from ingest.posting") == 1


async def test_documents_that_share_a_text_embed_it_once_while_neither_is_published(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, ingest_concurrency=2, **_openai(url)) as works,
        database.connect("admin") as admin,
    ):
        held = admin.transaction()
        await held.start()
        await admin.execute("select from accounts.project for no key update")
        async with works.working():
            # Publishing takes the project's row, which is held here. Intake does not.
            taken = [await works.hand_in(NOTE, external_id=title) for title in ("one", "two")]
            await eventually(lambda: _are_embedding(works, 2))
            await held.rollback()
            for each in taken:
                assert (await works.settled(each.document_id)).status == "indexed"
        assert simulator.texts == 1
        row = (await works.rows("select sum(texts) as texts, sum(reused) as reused from accounts.usage"))[0]
        assert (row["texts"], row["reused"]) == (1, 1)


async def _are_embedding(works: Works, count: int) -> bool:
    found = await works.value("select count(*) from ingest.document where status = 'embedding'")
    return bool(found == count)


async def test_a_document_deleted_while_it_is_embedded_ends_quietly(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.add(Fault("slow", seconds=1.0))
    async with serving(simulator.app) as url, works_on(database, tmp_path, **_openai(url)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            await eventually(lambda: _are_embedding(works, 1))
            await works.engine.documents.delete(works.tenant_id, taken.document_id)

            async def has_ended() -> bool:
                return bool(await works.value("select count(*) = 0 from queues.lease"))

            await eventually(has_ended)
        assert await works.value("select count(*) from ingest.chunk") == 0
        assert await works.value("select count(*) from queues.dead_letter") == 0
