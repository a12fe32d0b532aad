"""Every provider of a source passes the same checks, against simulators and with recorded responses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.simulators.providers import ProviderSimulators, serving_providers
from penstock.simulators.providers.world.delivery import MailProvider
from penstock.sources.folder.provider import FolderProvider
from penstock.sources.gmail.mailbox import GmailMailbox
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.google_drive.provider import GoogleDriveProvider
from penstock.sources.hubspot.provider import HubSpotProvider
from penstock.sources.imap.provider import ImapProvider
from penstock.sources.mail.keys import mail_key
from penstock.sources.mail.mailbox import Arrived
from penstock.sources.outlook.mailbox import OutlookMailbox
from penstock.sources.outlook.provider import OutlookProvider
from penstock.sources.protocol import Cursor, OpenSource, Provider
from penstock.sources.quickbooks.provider import QuickBooksProvider
from penstock.testing import SourceUnderTest, check_source
from tests.integration.reading_sources import opened
from tests.plugins.dovecot import Dovecot, mail_with

KINDS = ("hubspot", "google_drive", "quickbooks", "gmail")
REST = {
    "hubspot": "hubspot-rest@v3",
    "google_drive": "drive-rest@v3",
    "quickbooks": "quickbooks-rest@v3",
    "gmail": "gmail-rest@v1",
}
SIZES: dict[str, Any] = {
    "contacts": 105,
    "companies": 4,
    "deals": 3,
    "customers": 3,
    "invoices": 205,
    "files": 60,
    "threads": 60,
}
PROVIDERS: dict[str, Provider] = {
    "hubspot": HubSpotProvider(),
    "google_drive": GoogleDriveProvider(),
    "quickbooks": QuickBooksProvider(),
    "gmail": GmailProvider(),
}

MAILBOXES: dict[MailProvider, GmailProvider | OutlookProvider] = {
    "gmail": GmailProvider(),
    "outlook": OutlookProvider(),
}


def doing(simulators: ProviderSimulators, action: str) -> Callable[[str], str | None]:
    def act(stream: str) -> str | None:
        if (stream, action) == ("customers", "delete"):
            return None  # QuickBooks only makes customers inactive
        if stream == "mail":
            return None  # see below
        return simulators.change(stream, action)[0]

    return act


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transport", ["default", "rest", "sandbox"])
async def test_a_provider_passes_the_checks_against_its_simulator(kind: str, transport: str) -> None:
    async with serving_providers(**SIZES) as simulators:
        config = {"default": {}, "rest": {"bindings": [REST[kind]]}, "sandbox": {"bindings": ["sandbox@1"]}}
        source = opened(simulators, kind, config[transport], sandbox=transport == "sandbox")
        await check_source(
            SourceUnderTest(
                provider=PROVIDERS[kind],
                source=source,
                add=doing(simulators, "add"),
                change=doing(simulators, "change"),
                remove=doing(simulators, "delete"),
                fail=lambda: simulators.fail("server_error", kind, times=None),
                removals_need_full=transport == "sandbox" and kind != "hubspot",
            )
        )


@pytest.mark.parametrize("kind", MAILBOXES)
async def test_a_mailbox_passes_the_checks_against_its_simulator(kind: MailProvider) -> None:
    """Mails never change, and one that is deleted keeps its documents."""
    provider = MAILBOXES[kind]
    async with serving_providers(contacts=3, mails=0, threads=0) as simulators:
        for template in ("two_files", "forwarded", "signature_and_invoice", "reference", "zip") * 12:
            simulators.deliver(kind, template)
        config = {"mail_text": True, **({"threads": False} if kind == "gmail" else {})}
        source = opened(simulators, kind, config)

        async def add(stream: str) -> str:
            mail = simulators.deliver(kind, "invoice")
            async with provider.open_mailbox(source) as mailbox:
                assert isinstance(mailbox, OutlookMailbox | GmailMailbox)
                found = await mailbox.fetch_message(mail.id)
            assert found is not None
            return f"{mail_key(found)}#{found.attachments[0].part}"

        await check_source(
            SourceUnderTest(
                provider=provider,
                source=source,
                add=add,
                fail=lambda: simulators.fail("server_error", kind, times=None),
            )
        )


@pytest.mark.timeout(240)
async def test_a_mailbox_passes_the_checks_at_a_real_mail_server(dovecot: Dovecot) -> None:
    for number in range(60):
        dovecot.deliver(mail_with((f"{number}.pdf", b"content")))
    provider, settings = ImapProvider(), Settings(_env_file=None, allow_private_addresses=True)
    config = provider.check_config({**dovecot.config, "mail_text": True})
    source = OpenSource(
        TenantId(uuid4()), SourceId(uuid4()), "imap", None, config, settings, password=dovecot.password
    )

    async def add(stream: str) -> str:
        made = mail_with(("new.pdf", b"new"))
        dovecot.deliver(made)
        async with provider.open_mailbox(source) as mailbox:
            async for event in mailbox.sync_since(Cursor(None, is_full=True)):
                found = await mailbox.fetch_message(event.id) if isinstance(event, Arrived) else None
                if found is not None and f"<{found.message_id}>" == made["Message-ID"]:
                    return f"{mail_key(found)}#{found.attachments[0].part}"
        raise AssertionError("the mail did not arrive")

    await check_source(SourceUnderTest(provider=provider, source=source, add=add, fail=dovecot.stop))


@pytest.mark.parametrize("kind", KINDS)
async def test_recorded_responses_pass_the_checks_without_a_token(kind: str) -> None:
    settings = Settings(_env_file=None, integrations_use_fixtures=True)
    source = OpenSource(TenantId(uuid4()), SourceId(uuid4()), kind, None, {}, settings)
    assert PROVIDERS[kind].oauth(settings) is None
    await check_source(SourceUnderTest(provider=PROVIDERS[kind], source=source))


async def test_a_folder_passes_the_checks(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"file {number}")
    settings = Settings(_env_file=None)
    config = {"path": str(tmp_path)}
    source = OpenSource(TenantId(uuid4()), SourceId(uuid4()), "folder", None, config, settings)

    def add(stream: str) -> str:
        (tmp_path / "new.txt").write_text("a new file")
        return "new.txt"

    def change(stream: str) -> str:
        (tmp_path / "0.txt").write_text("another text, which is longer")
        return "0.txt"

    def remove(stream: str) -> str:
        (tmp_path / "1.txt").unlink()
        return "1.txt"

    def fail() -> None:
        for path in tmp_path.iterdir():
            path.unlink()
        tmp_path.rmdir()

    await check_source(
        SourceUnderTest(
            provider=FolderProvider(), source=source, add=add, change=change, remove=remove, fail=fail
        )
    )
