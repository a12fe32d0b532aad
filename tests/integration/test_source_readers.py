"""What the readers of HubSpot, Drive, QuickBooks and Gmail do at the limits of their providers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.simulators.providers import serving_providers
from penstock.simulators.providers.hubspot import search
from penstock.simulators.providers.world.drive import DOC, PDF
from penstock.sources.errors import BindingMismatch, CursorExpired, ProviderUnavailable, TokenRejected
from penstock.sources.gmail.bodies import text_of
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.google_drive.contents import FileUnreadable
from penstock.sources.google_drive.provider import GoogleDriveProvider
from penstock.sources.hubspot.provider import HubSpotProvider
from penstock.sources.protocol import Cursor
from penstock.sources.quickbooks import reader as quickbooks_reader
from penstock.sources.quickbooks.provider import QuickBooksProvider
from tests.integration.reading_sources import FIRST, opened, read, read_once

HUBSPOT, DRIVE, QUICKBOOKS, GMAIL = (
    HubSpotProvider(),
    GoogleDriveProvider(),
    QuickBooksProvider(),
    GmailProvider(),
)


def hubspot(contacts: int = 250) -> Any:
    return serving_providers(contacts=contacts, companies=1, deals=0)


async def test_more_records_than_a_search_can_page_through_are_read_even_with_one_modified_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MOST_RESULTS", 250)
    async with hubspot(contacts=620) as sims:
        source = opened(sims, "hubspot")
        async with HUBSPOT.open(source) as reader:
            full = await read(reader, "contacts")
            assert len(full.ids) == len(set(full.ids)) == 620
            assert full.checkpoints[-1].expected == 620
            sims.change("contacts", "same_modified_time")
            delta = await read(reader, "contacts", full.after)
            assert sorted(delta.ids) == sorted(full.ids)


async def test_a_record_that_changes_between_two_pages_is_not_lost() -> None:
    async with hubspot(contacts=450) as sims:
        ids = list(sims.world.hubspot.contacts.objects)

        def change() -> None:
            sims.world.hubspot.contacts.change(ids[0], {"jobtitle": "on page one"})
            sims.world.hubspot.contacts.change(ids[-1], {"jobtitle": "on the last page"})
            sims.world.hubspot.contacts.delete(ids[10])

        sims.fail("drift", "hubspot", skip=1, action=change)
        async with HUBSPOT.open(opened(sims, "hubspot")) as reader:
            full = await read(reader, "contacts")
            assert set(full.ids) == set(ids), "nothing shifted"
            delta = await read(reader, "contacts", full.after)
            assert {item.payload["properties"]["jobtitle"] for item in delta.items} == {
                "on page one",
                "on the last page",
            }
            assert delta.gone == [ids[10]]


async def test_a_record_from_the_future_does_not_move_the_watermark() -> None:
    async with hubspot(contacts=3) as sims:
        contacts = sims.world.hubspot.contacts
        contacts.add({"email": "tomorrow@example.com"}, at=datetime.now(UTC) + timedelta(days=400))
        async with HUBSPOT.open(opened(sims, "hubspot")) as reader:
            full = await read(reader, "contacts")
            assert len(full.ids) == 4
            first = next(iter(contacts.objects))
            contacts.change(first, {"jobtitle": "changed today"})
            assert first in (await read(reader, "contacts", full.after)).ids


async def test_a_page_token_that_expired_starts_the_pass_again() -> None:
    async with serving_providers(contacts=5, files=55) as sims:
        for bindings in (["drive-mcp@v1", "drive-rest@v3"], ["drive-rest@v3"], ["sandbox@1"]):
            sims.faults.clear()
            rule = sims.fail("expired_page_token", "google_drive")
            source = opened(sims, "google_drive", {"bindings": bindings}, sandbox=bindings == ["sandbox@1"])
            found = await read_once(DRIVE, source, "files")
            assert rule.hits == 1
            assert len(set(found.ids)) == 55
            assert found.checkpoints[-1].left_out == 0


async def test_the_caps_of_a_full_sync_take_the_newest_and_count_the_rest() -> None:
    async with serving_providers(contacts=30, files=70, threads=70) as sims:
        drive = opened(sims, "google_drive", drive_initial_sync_max_files=20)
        found = await read_once(DRIVE, drive, "files")
        assert (len(found.ids), found.checkpoints[-1].left_out) == (20, 50)
        rest = [file.id for file in sims.world.drive.newest_first() if not file.trashed]
        newest = [
            each for each in rest if not sims.world.drive.files[each].mime.endswith(("folder", "shortcut"))
        ]
        assert found.ids == newest[:20]
        gmail = opened(sims, "gmail", gmail_initial_sync_max_threads=20)
        mails = await read_once(GMAIL, gmail, "threads")
        assert (len(mails.ids), mails.checkpoints[-1].left_out) == (20, 50)
        assert mails.checkpoints[-1].expected == 20
        assert mails.ids == list(sims.world.gmail.newest_first())[:20]
        assert (await read_once(GMAIL, gmail, "threads", mails.after)).ids == []


async def test_one_file_that_cannot_be_read_fails_alone() -> None:
    async with serving_providers(contacts=5, files=6) as sims:
        drive = sims.world.drive
        large = drive.add("Too large to export", DOC, text="x" * 11_000_000)
        for config in ({}, {"bindings": ["drive-rest@v3"]}):
            async with DRIVE.open(opened(sims, "google_drive", config)) as reader:
                found = await read(reader, "files")
                [failed] = found.failed
                assert (failed.id, failed.code) == (large.id, "exportSizeLimitExceeded")
                assert len(found.ids) == 6
                pdf = next(item for item in found.items if item.payload["mimeType"] == PDF)
                assert pdf.content is not None
                async with pdf.content.open() as parts:
                    content = b"".join([part async for part in parts])
                assert content == drive.bytes_of(drive.files[pdf.id])
                saved = drive.files.pop(pdf.id)
                with pytest.raises(FileUnreadable) as gone:
                    async with pdf.content.open() as parts:
                        await anext(parts)
                assert gone.value.reason == "notFound"
                drive.files[pdf.id] = saved
        small = opened(sims, "google_drive", max_upload_bytes=100)
        codes = {each.code for each in (await read_once(DRIVE, small, "files")).failed}
        assert codes == {"exportSizeLimitExceeded", "file_too_large"}


async def test_the_feed_of_changes_shows_what_was_removed_trashed_and_restored() -> None:
    async with serving_providers(contacts=5, files=6) as sims:
        drive = sims.world.drive
        async with DRIVE.open(opened(sims, "google_drive")) as reader:
            full = await read(reader, "files")
            first, second, third = full.ids[:3]
            drive.delete(first)
            drive.trash(second)
            drive.change(third, name="Renamed")
            folder = drive.add("A folder", "application/vnd.google-apps.folder")
            delta = await read(reader, "files", full.after)
            assert (sorted(delta.gone), delta.ids) == (sorted([first, second]), [third])
            assert folder.id not in delta.ids
            with pytest.raises(CursorExpired):
                await read(reader, "files", Cursor({"v": 1, "token": "99999"}, is_full=False))


async def test_a_history_that_is_too_old_asks_for_a_full_pass() -> None:
    async with serving_providers(contacts=5, threads=6) as sims:
        async with GMAIL.open(opened(sims, "gmail")) as reader:
            full = await read(reader, "threads")
            mailbox = sims.world.gmail
            mailbox.add(sender="a@example.com", subject="New", text="Hello")
            mailbox.forget_history()
            with pytest.raises(CursorExpired):
                await read(reader, "threads", full.after)
            again = await read(reader, "threads", Cursor(None, is_full=True))
            assert len(again.ids) == 7
            assert (await read(reader, "threads", again.after)).ids == []


async def test_reading_a_mail_is_no_change_but_the_bin_is_and_a_deleted_thread_is_gone() -> None:
    async with serving_providers(contacts=5, threads=6) as sims:
        mailbox = sims.world.gmail
        async with GMAIL.open(opened(sims, "gmail")) as reader:
            full = await read(reader, "threads")
            read_one, trashed, deleted, answered = full.ids[:4]
            mailbox.label(mailbox.threads[read_one][0], add=("STARRED",))
            mailbox.trash(trashed)
            mailbox.delete(deleted)
            mailbox.add(sender="a@example.com", subject="Re", text="An answer", thread_id=answered)
            delta = await read(reader, "threads", full.after)
            assert (sorted(delta.gone), delta.ids) == (sorted([trashed, deleted]), [answered])
            assert delta.items[0].payload["messages"][-1]["body_text"] == "An answer"


async def test_captured_changes_that_may_be_incomplete_ask_for_a_full_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving_providers(contacts=10, companies=5, invoices=20) as sims:
        async with QUICKBOOKS.open(opened(sims, "quickbooks")) as reader:
            full = await read(reader, "invoices")
            invoices = sims.world.quickbooks.invoices
            ids = list(invoices.entities)
            sims.world.quickbooks.delete_invoice(ids[0])
            sims.world.quickbooks.change_invoice(ids[1], {"Balance": 1.0})
            delta = await read(reader, "invoices", full.after)
            assert (delta.gone, delta.ids) == ([ids[0]], [ids[1]])
            old = (datetime.now(UTC) - timedelta(days=31)).isoformat()
            with pytest.raises(CursorExpired):
                await read(reader, "invoices", Cursor({"v": 1, "since": old}, is_full=False))
            monkeypatch.setattr(quickbooks_reader, "MOST_CAPTURED", 2)
            with pytest.raises(CursorExpired):
                await read(reader, "invoices", full.after)


async def test_errors_that_a_tool_returns_as_plain_text_are_errors() -> None:
    async with serving_providers(contacts=10, companies=5, invoices=20) as sims:
        source = opened(sims, "quickbooks")
        sims.fail("tool_error", "quickbooks", surface="mcp", message="the service is down")
        with pytest.raises(ProviderUnavailable):
            await read_once(QUICKBOOKS, source, "invoices")
        expired = "AuthenticationFault: the token is expired"
        sims.fail("tool_error", "quickbooks", surface="mcp", message=expired)
        with pytest.raises(TokenRejected):
            await read_once(QUICKBOOKS, source, "invoices")


async def test_a_source_can_choose_its_bindings_and_a_wrong_choice_is_explained() -> None:
    async with hubspot(contacts=3) as sims:
        source = opened(sims, "hubspot", {"bindings": ["hubspot-rest@v3"]})
        assert len((await read_once(HUBSPOT, source, "contacts")).ids) == 3
        assert sims.ledger.count("hubspot", "mcp") == 0
        only = opened(sims, "quickbooks", quickbooks_bindings="quickbooks-mcp@1")
        await read_once(QUICKBOOKS, only, "customers", FIRST)
        with pytest.raises(BindingMismatch, match=r"quickbooks\.customers\.changed"):
            await read_once(
                QUICKBOOKS, only, "customers", Cursor({"v": 1, "since": "2026-11-01T00:00:00Z"}, False)
            )


async def test_a_provider_on_this_machine_is_refused_unless_private_addresses_are_allowed() -> None:
    async with hubspot(contacts=1) as sims:
        for config in ({}, {"bindings": ["hubspot-rest@v3"]}):
            closed = opened(sims, "hubspot", config, allow_private_addresses=False)
            with pytest.raises(ProviderUnavailable, match="loopback"):
                await read_once(HUBSPOT, closed, "contacts")
            assert str(closed.access_token) not in repr(closed)


def test_a_mail_without_a_plain_part_is_read_from_its_html() -> None:
    html = "PHN0eWxlPnA8L3N0eWxlPjxwPkhlbGxvIDxiPlNhbTwvYj48L3A-PHNjcmlwdD5ldmlsKCk8L3NjcmlwdD4"
    payload = {"mimeType": "text/html", "body": {"data": html}, "headers": []}
    assert text_of(payload).split() == ["Hello", "Sam"]
    odd = {
        "mimeType": "text/plain",
        "body": {"data": "!!!"},
        "headers": [{"name": "Content-Type", "value": "x"}],
    }
    assert text_of({"parts": [odd, payload, None, {"parts": 7}]}).split() == ["Hello", "Sam"]
    latin = {
        "mimeType": "text/plain",
        "body": {"data": "R3L832U"},
        "headers": [{"name": "content-type", "value": 'text/plain; charset="iso-8859-1"'}],
    }
    assert text_of(latin) == "Grüße"
