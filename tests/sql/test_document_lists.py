"""Lists of documents in SQL: every page is bounded, and a count says when it is an estimate."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tests.plugins.database import Database
from tests.sql.document_calls import document_calls

PAGE = "ingest.page_documents"


async def test_a_search_for_a_text_looks_at_a_limited_number_and_still_finds_everything(
    database: Database,
) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        wanted = await here.document(acme, b"0", filename="needle.txt")
        for n in range(1, 6):
            await here.document(acme, b"%d" % n, filename=f"hay{n}.txt")
        found: list[UUID] = []
        after, pages = None, 0
        while True:
            page = await here.of(acme, PAGE, {"q": "NEEDLE"}, after_id=after, limit=10, scan=2)
            found += [UUID(each["document_id"]) for each in page["items"]]
            pages += 1
            if page["next"] is None:
                break
            after = UUID(page["next"]["id"])
        assert found == [wanted]
        assert pages >= 3, "two documents were looked at for each"


async def test_a_count_is_exact_up_to_its_limit_and_says_when_it_is_not(database: Database) -> None:
    async with document_calls(database) as here:
        acme, other = await here.create_tenant("acme"), await here.create_tenant("other")
        for n in range(6):
            await here.document(acme, b"%d" % n, filename=f"hay{n}.txt")
        await here.document(other, b"theirs", filename="hay.txt")
        assert await here.of(acme, "ingest.count_documents", {}, 6) == {"total": 6, "approximate": False}
        counted = await here.of(acme, "ingest.count_documents", {}, 5)
        assert (counted["total"] >= 6, counted["approximate"]) == (True, True)
        counted = await here.of(acme, "ingest.count_documents", {"q": "hay"}, scan=3)
        assert counted == {"total": 6, "approximate": True}


async def test_every_order_visits_each_document_once(database: Database) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        expected = [str(await here.document(acme, b"%d" % n)) for n in range(5)]
        for sort, wanted in (("newest", expected[::-1]), ("oldest", expected), ("updated", expected[::-1])):
            seen: list[str] = []
            place: dict[str, str] | None = None
            while True:
                after = _after(place)
                page = await here.of(acme, PAGE, {}, sort, limit=2, **after)
                seen += [each["document_id"] for each in page["items"]]
                place = page["next"]
                if place is None:
                    break
            assert seen == wanted, sort


def _after(place: dict[str, str] | None) -> dict[str, object]:
    if place is None:
        return {}
    return {"after_id": UUID(place["id"]), "after_at": datetime.fromisoformat(place["at"])}


COPIES = """
insert into ingest.document (document_id, tenant_id, project_id, file_id, status, mime_type, filename,
  size_bytes, content_sha256, reason_code, created_at, updated_at)
select internal.uuid7(), d.tenant_id, d.project_id, d.file_id,
  (case when n % 500 = 0 then 'failed' when n % 97 = 0 then 'skipped' else 'indexed'
   end)::ingest.document_status,
  case when n % 50 = 0 then 'application/pdf' else 'text/plain' end, 'copy' || n || '.txt', 1,
  sha256(convert_to(n::text, 'UTF8')), case when n % 500 = 0 then 'crash' end, now(),
  now() - n * interval '1 second'
from ingest.document d cross join generate_series(1, 30000) n
"""
READ = """
select coalesce(t.seq_tup_read, 0) + greatest(coalesce(t.idx_tup_fetch, 0), (
  select coalesce(sum(i.idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = t.relid))
from pg_stat_user_tables t where t.relid = 'ingest.document'::regclass
"""


async def test_a_page_of_documents_reads_little_more_than_itself_however_many_there_are(
    database: Database,
) -> None:
    async with document_calls(database) as here:
        acme = await here.create_tenant("acme")
        await here.document(acme, b"first")
        await here.admin.execute(COPIES)
        await here.admin.execute("analyze ingest.document")

        async def read(chosen: dict[str, str], sort: str = "newest") -> int:
            counts = []
            for _ in range(2):
                for connection in (here.runtime, here.admin):
                    await connection.fetch("select pg_stat_force_next_flush()")
                counts.append(int(await here.admin.fetchval(READ)))
                if len(counts) == 1:
                    await here.of(acme, PAGE, chosen, sort, limit=50)
            return counts[1] - counts[0]

        for chosen in ({}, {"status": "failed"}, {"status": "skipped"}, {"reason": "crash"}):
            assert await read(chosen) <= 1_000, chosen
        assert await read({"mime_type": "application/pdf"}) <= 4_000
        for sort in ("oldest", "updated"):
            assert await read({}, sort) <= 1_000, sort
