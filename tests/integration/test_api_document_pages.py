"""What a page about documents reads: filtered lists with counts, timelines, text, pages as pictures."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

from penstock.cli.demo.files import Piece, pdf
from penstock.simulators.providers.world.locked_pdf import make_locked_pdf
from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database

UPLOAD = "/v1/documents/upload"
BREAK = "update ingest.document set status = 'failed', reason_code = 'crash' where filename <> 'gate.txt'"
PAGES: list[list[Piece]] = [["# Cedar Mill", "The wheel turns."], ["## Readings", "The race is calm."]]


async def test_a_list_filters_excludes_sorts_and_counts(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for name in ("gate.txt", "wheel.txt", "race.txt"):
            await client.post(UPLOAD, files=form(f"about the {name}", name))
        async with database.connect("admin") as admin:
            await admin.execute(BREAK)

        async def listed(**query: str | int) -> tuple[list[str], int | None]:
            answer = await client.get("/v1/documents", params={"count": 1, **query})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            return [each["filename"] for each in page["items"]], page["total"]

        assert await listed(status="failed") == (["race.txt", "wheel.txt"], 2)
        assert await listed(status="!failed") == (["gate.txt"], 1)
        assert await listed(status="pending,failed", sort="oldest") == (
            ["gate.txt", "wheel.txt", "race.txt"],
            3,
        )
        assert await listed(reason="crash", q="WHEEL") == (["wheel.txt"], 1)
        assert await listed(reason="!crash") == (["gate.txt"], 1)
        assert await listed(q="!wheel") == (["race.txt", "gate.txt"], 2)
        assert await listed(mime_type="text/plain,text/html", q="nowhere") == ([], 0)
        assert (await listed(limit=1))[1] == 3
        first = (await client.get("/v1/documents", params={"sort": "updated", "limit": 2})).json()
        rest = (
            await client.get(
                "/v1/documents", params={"sort": "updated", "limit": 2, "cursor": first["cursor"]}
            )
        ).json()
        assert (len(first["items"]), len(rest["items"]), rest["cursor"]) == (2, 1, None)
        assert first["total"] is None
        for query, field in (
            ({"status": "broken"}, "status"),
            ({"source_id": "x"}, "source_id"),
            ({"project": "nowhere"}, "project"),
            ({"sort": "size"}, "sort"),
        ):
            answer = await client.get("/v1/documents", params=query)
            assert answer.status_code in (404, 422), answer.text
            assert field in answer.json()["field"]


async def test_a_timeline_tells_working_from_waiting_and_every_error_has_its_remedy(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        good = (await client.post(UPLOAD, files=form())).json()["document_id"]
        bad = (await client.post(UPLOAD, files=form(b"\0\1\2\3" * 50, "a.bin"))).json()["document_id"]
        waiting = (await client.get(f"/v1/documents/{good}/timeline")).json()["items"]
        assert (waiting[-1]["kind"], waiting[-1]["to"]) == ("wait", None)
        async with server.working():
            for document_id in (good, bad):
                await client.get(f"/v1/documents/{document_id}", params={"wait": 30})
        spans = (await client.get(f"/v1/documents/{good}/timeline")).json()["items"]
        assert [span["from"] for span in spans] == sorted(span["from"] for span in spans)
        kinds = {(span["kind"], span["stage"]) for span in spans}
        assert {("work", "parsing"), ("work", "embedding"), ("event", "indexed")} <= kinds
        work = [span for span in spans if span["kind"] == "work"]
        assert all(span["worker"] and span["versions"]["code"] for span in work)
        assert all(span["to"] is not None for span in spans)
        assert spans[-1]["versions"]["parser"]
        assert spans[-1]["versions"]["code"]
        failed = [
            span
            for span in (await client.get(f"/v1/documents/{bad}/timeline")).json()["items"]
            if span["reason_code"] is not None
        ]
        assert failed
        assert all(span["message"] and span["remedy"] for span in failed)


async def test_the_parsed_text_is_read_in_parts(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        text = "\n\n".join(f"Paragraph {n} about gates and wheels and the race." for n in range(200))
        document = (await client.post(UPLOAD, params={"wait": 30}, files=form(text))).json()["document"]
        path = f"/v1/documents/{document['document_id']}/text"
        whole = (await client.get(path)).json()
        assert "Paragraph 0 about" in whole["text"]
        assert "Paragraph 199 about" in whole["text"]
        assert whole["text"].count("Paragraph 100 about") == 1, "what two chunks share is written once"
        assert whole["chunks"][0]["start"] == 0
        part = (await client.get(path, params={"from": 100, "to": 180})).json()
        assert part["text"] == whole["text"][100:180]
        assert (part["from"], part["to"], part["length"]) == (100, 180, whole["length"])


async def test_pages_of_a_pdf_are_drawn_within_limits(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        content = pdf("Cedar Mill", PAGES)
        taken = await client.post(UPLOAD, files=form(content, "mill.pdf", "application/pdf"))
        path = f"/v1/documents/{taken.json()['document_id']}"
        sizes = (await client.get(f"{path}/pages")).json()["items"]
        assert [size["page"] for size in sizes] == [1, 2]
        assert sizes[0]["width"] > 100
        drawn = await asyncio.gather(
            *(client.get(f"{path}/pages/1", params={"width": 300}) for _ in range(3))
        )
        assert {picture.status_code for picture in drawn} == {200}
        assert len({picture.content for picture in drawn}) == 1
        picture = drawn[0]
        assert picture.headers["content-type"] == "image/png"
        assert "sandbox" in picture.headers["content-security-policy"]
        assert struct.unpack(">I", picture.content[16:20])[0] in (299, 300, 301)
        assert (await client.get(f"{path}/preview")).headers["content-type"] == "image/png"
        assert_problem(await client.get(f"{path}/pages/3"), 404, "page")
        assert_problem(await client.get(f"{path}/pages/1", params={"width": 5_000}), 422, "width")
        _, foreign = await server.another_tenant("other")
        async with server.client(foreign) as other:
            assert_problem(await other.get(f"{path}/pages/1"), 404, "document_id")
            assert_problem(await other.get(f"{path}/preview"), 404, "document_id")


async def test_a_locked_or_broken_pdf_says_why_it_cannot_be_drawn(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for content, why in (
            (make_locked_pdf(["secret"], "hunter2"), "encrypted"),
            (b"%PDF-1.4\nnothing else", "truncated"),
        ):
            taken = await client.post(UPLOAD, files=form(content, "x.pdf", "application/pdf"))
            path = f"/v1/documents/{taken.json()['document_id']}"
            for call in ("pages", "pages/1", "preview"):
                answer = await client.get(f"{path}/{call}")
                assert answer.status_code == 422, answer.text
                assert why in answer.json()["detail"]
                assert answer.json()["remedy"]


async def test_a_page_that_takes_too_long_names_the_setting_that_changes_it(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, parse_seconds=0.006) as server, server.client() as client:
        taken = await client.post(UPLOAD, files=form(pdf("Cedar Mill", PAGES), "m.pdf", "application/pdf"))
        for call in ("pages", "pages/1"):
            answer = await client.get(f"/v1/documents/{taken.json()['document_id']}/{call}")
            assert answer.status_code == 422, answer.text
            assert "longer than 0.001 s" in answer.json()["detail"]
            assert "Raise PENSTOCK_PARSE_SECONDS" in answer.json()["remedy"]


async def test_a_preview_never_runs_in_a_browser(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        page = "<html><script>alert(1)</script><p>The mill stands by the river.</p></html>"
        taken = await client.post(UPLOAD, files=form(page, "page.html", "text/html"))
        shown = await client.get(f"/v1/documents/{taken.json()['document_id']}/preview")
        assert shown.headers["content-type"] == "text/plain; charset=utf-8"
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in shown.headers["content-security-policy"]
        assert shown.text == page
        plain = await client.post(UPLOAD, files=form(TEXT))
        listed = await client.get(f"/v1/documents/{plain.json()['document_id']}/pages")
        assert listed.json() == {"items": []}
        assert_problem(
            await client.get(f"/v1/documents/{plain.json()['document_id']}/pages/1"), 415, "document_id"
        )
