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
