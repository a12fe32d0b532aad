"""The recorded responses of each provider are golden records: readers make exactly these items of them."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any
from uuid import uuid4

from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.google_drive.provider import GoogleDriveProvider
from penstock.sources.hubspot.provider import HubSpotProvider
from penstock.sources.protocol import Item, OpenSource, Provider
from penstock.sources.quickbooks.provider import QuickBooksProvider
from penstock.testing import read_stream


def recorded(kind: str, name: str) -> Any:
    return json.loads((files(f"penstock.sources.{kind}") / "fixtures" / name).read_text("utf-8"))


async def items(provider: Provider, stream: str) -> list[Item]:
    settings = Settings(_env_file=None, integrations_use_fixtures=True)
    source = OpenSource(TenantId(uuid4()), SourceId(uuid4()), provider.kind, None, {}, settings)
    async with provider.open(source) as reader:
        found = await read_stream(reader, stream)
    assert not found.failed
    return list(found.items.values())


async def test_recorded_objects_of_hubspot_are_read_as_they_are() -> None:
    types = {"companies": "hubspot.company", "contacts": "hubspot.contact", "deals": "hubspot.deal"}
    for stream, document_type in types.items():
        results = recorded("hubspot", f"{stream}.json")["results"]
        found = await items(HubSpotProvider(), stream)
        assert [(item.id, item.document_type, item.version) for item in found] == [
            (each["id"], document_type, each["updatedAt"]) for each in results
        ]
        for item, each in zip(found, results, strict=True):
            linked = each.pop("associations", None)
            assert item.payload["properties"] == each["properties"]
            if linked is not None:
                [company] = item.payload["associations"]["companies"]["results"]
                assert company == linked["companies"]["results"][0], "each company once"
            assert item.created_at is not None


async def test_recorded_customers_and_invoices_of_quickbooks_are_read_as_they_are() -> None:
    for stream, entity in (("customers", "Customer"), ("invoices", "Invoice")):
        results = recorded("quickbooks", f"{stream}.json")["QueryResponse"][entity]
        found = await items(QuickBooksProvider(), stream)
        assert [item.payload for item in found] == results
        assert {item.document_type for item in found} == {f"quickbooks.{entity.lower()}"}
        assert all(item.version and item.updated_at for item in found)


async def test_recorded_files_of_drive_have_their_exported_text_or_their_bytes() -> None:
    found = {item.payload["mimeType"]: item for item in await items(GoogleDriveProvider(), "files")}
    doc = found["application/vnd.google-apps.document"]
    text = (files("penstock.sources.google_drive") / "fixtures/gdoc-export-sample.txt").read_text("utf-8-sig")
    assert doc.document_type == "google_drive.doc"
    assert doc.payload["exported_text"] == text.replace("\r\n", "\n")
    assert doc.content is None
    assert found["application/vnd.google-apps.spreadsheet"].document_type == "google_drive.sheet"
    pdf = found["application/pdf"].content
    assert pdf is not None
    assert pdf.filename.endswith(".pdf")
    async with pdf.open() as parts:
        assert b"".join([part async for part in parts]).startswith(b"%PDF")
    assert not any("folder" in kind or "shortcut" in kind for kind in found)


async def test_recorded_threads_of_gmail_are_read_with_the_text_of_each_mail() -> None:
    threads = recorded("gmail", "threads.json")["threads"]
    found = await items(GmailProvider(), "threads")
    assert [item.id for item in found] == [each["id"] for each in threads]
    for item, thread in zip(found, threads, strict=True):
        assert item.document_type == "gmail.thread"
        assert len(item.payload["messages"]) == len(thread["messages"])
        for mail in item.payload["messages"]:
            assert {"id", "from", "to", "subject", "internalDate", "body_text"} <= mail.keys()
            assert "<div>" not in mail["body_text"]
            assert "attachmentId" not in json.dumps(mail), "it changes with every request"
