"""Docling by its HTTP service, against a simulator of its wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.cli.demo import files as demo_files
from penstock.errors import DocumentRejected
from penstock.model import media
from penstock.pipeline.parse.errors import ParserUnavailable
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.reasons import Reason
from penstock.settings import Settings
from penstock.simulators import Fault, serving
from penstock.simulators.docling import KEY, DoclingSimulator

REPORT = demo_files.pdf("R", [["# Report", "Words that only the local parser would see."]])


@asynccontextmanager
async def parser_pool(docling: DoclingSimulator, **settings: object) -> AsyncIterator[ParserPool]:
    async with serving(docling.app) as url:
        given = {
            "parse_processes": 1,
            "docling_url": url,
            "docling_api_key": KEY,
            "docling_auto": True,
        } | settings
        made = ParserPool(Settings.model_validate(given))
        await made.start()
        try:
            yield made
        finally:
            await made.close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "stored.bin"
    path.write_bytes(REPORT)
    return path


async def test_a_pdf_goes_to_docling_and_its_pages_come_back(report: Path) -> None:
    docling = DoclingSimulator(
        pages=("# Head\n\n<!-- image -->\n\nFirst words.", "| a | b |\n|---|---|\n| 1 | 2 |")
    )
    async with parser_pool(docling) as made:
        parsed = await made.parse(report, mime_type=media.PDF, filename="secret name.pdf")
    assert [(block.page, block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks] == [
        (1, "heading", "# Head"),
        (1, "paragraph", "First words."),
        (2, "table", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ]
    assert (parsed.parser, parsed.page_count, parsed.title) == ("docling", 2, "Head")
    assert docling.received == [("document.pdf", REPORT)]
    assert docling.options[0]["to_formats"] == "md"


async def test_content_leaves_the_machine_only_if_a_document_or_a_setting_asks_for_it(report: Path) -> None:
    docling = DoclingSimulator()
    async with parser_pool(docling, docling_auto=False) as made:
        parsed = await made.parse(report, mime_type=media.PDF, filename="a.pdf")
        assert (parsed.parser != "docling", docling.received) == (True, [])
        asked = await made.parse(report, mime_type=media.PDF, filename="a.pdf", by="docling")
        assert (asked.parser, len(docling.received)) == ("docling", 1)
    async with parser_pool(docling) as made:
        assert (await made.parse(report, mime_type=media.PDF, filename="a.pdf")).parser == "docling"
        await made.parse(report, mime_type=media.PDF, filename="a.pdf", by="local")
        assert len(docling.received) == 2


async def test_types_that_docling_does_not_read_better_are_read_here(tmp_path: Path) -> None:
    docling = DoclingSimulator()
    path = tmp_path / "a.txt"
    path.write_text("Plain words.")
    async with parser_pool(docling) as made:
        assert (await made.parse(path, mime_type=media.TEXT, filename="a.txt")).parser == "text"
    assert docling.received == []


async def test_a_file_that_docling_cannot_convert_fails_with_doclings_message(report: Path) -> None:
    docling = DoclingSimulator()
    docling.status = "failure"
    async with parser_pool(docling) as made:
        for said, code in (("broken stream", Reason.MALFORMED), ("needs a password", Reason.ENCRYPTED)):
            docling.errors = [said]
            with pytest.raises(DocumentRejected, match=said) as caught:
                await made.parse(report, mime_type=media.PDF, filename="a.pdf")
            assert caught.value.code == code


async def test_partial_success_keeps_the_text_and_says_what_is_missing(report: Path) -> None:
    docling = DoclingSimulator()
    docling.status, docling.errors = "partial_success", ["page 7 is broken"]
    async with parser_pool(docling) as made:
        parsed = await made.parse(report, mime_type=media.PDF, filename="a.pdf")
    assert parsed.warnings == ("page 7 is broken",)


async def test_an_empty_result_of_docling_fails_as_empty(report: Path) -> None:
    async with parser_pool(DoclingSimulator(pages=("",))) as made:
        with pytest.raises(DocumentRejected) as caught:
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")
    assert caught.value.code == Reason.EMPTY


@pytest.mark.parametrize(
    "fault",
    [Fault("status", 500), Fault("status", 404), Fault("disconnect"), Fault("not_json")],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
async def test_a_temporary_failure_of_docling_may_be_retried(report: Path, fault: Fault) -> None:
    docling = DoclingSimulator()
    docling.faults.add(fault)
    async with parser_pool(docling) as made:
        with pytest.raises(ParserUnavailable):
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")
        assert (await made.parse(report, mime_type=media.PDF, filename="a.pdf")).parser == "docling"


async def test_a_busy_service_says_when_to_come_back(report: Path) -> None:
    docling = DoclingSimulator()
    docling.faults.add(Fault("status", 429, {"retry-after": "7"}))
    async with parser_pool(docling) as made:
        with pytest.raises(ParserUnavailable) as caught:
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")
    assert caught.value.retry_after == 7


async def test_a_wrong_key_names_the_setting(report: Path) -> None:
    async with parser_pool(DoclingSimulator(), docling_api_key="wrong") as made:
        with pytest.raises(ParserUnavailable, match="PENSTOCK_DOCLING_API_KEY"):
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")


async def test_a_conversion_that_never_ends_is_a_timeout(report: Path) -> None:
    async with parser_pool(DoclingSimulator(polls=10_000), parse_seconds=0.5) as made:
        with pytest.raises(DocumentRejected) as caught:
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")
    assert caught.value.code == Reason.TIMEOUT


async def test_an_unreachable_address_is_retriable(report: Path) -> None:
    made = ParserPool(
        Settings(parse_processes=1, docling_url="http://127.0.0.1:9", docling_api_key=KEY, docling_auto=True)
    )
    await made.start()
    try:
        with pytest.raises(ParserUnavailable):
            await made.parse(report, mime_type=media.PDF, filename="a.pdf")
    finally:
        await made.close()
