"""What the Outlook mailbox does at the limits of Microsoft Graph."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from penstock.errors import InvalidArgument
from penstock.settings import Settings
from penstock.simulators.providers import ProviderSimulators, serving_providers
from penstock.simulators.providers.world.mail import OWNER
from penstock.simulators.serving import serving
from penstock.sources.errors import ProviderUnavailable, Throttled, TokenRejected
from penstock.sources.mail.attachments import AttachmentUnreadable
from penstock.sources.mail.mailbox import SubscriptionLost
from penstock.sources.outlook.provider import OutlookProvider
from penstock.sources.protocol import Cursor, Item, OpenSource
from tests.integration.reading_sources import Pass, opened, read, read_once

OUTLOOK = OutlookProvider()
SHARED = "invoices@millbrook.example"


def source_at(
    sims: ProviderSimulators, config: Mapping[str, Any] | None = None, **settings: Any
) -> OpenSource:
    token, _ = sims.issue_tokens("outlook")
    return opened(sims, "outlook", config, token=token, **settings)


def files(found: Pass) -> list[str]:
    return sorted(item.payload["attachment"]["filename"] for item in found.items if item.content)


@asynccontextmanager
async def receiving() -> AsyncIterator[str]:
    """An address that passes Graph's check of a new subscription."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        given = Request(scope, receive).query_params.get("validationToken", "")
        await PlainTextResponse(given)(scope, receive, send)

    async with serving(answer) as url:
        yield f"{url}/webhooks/outlook"


async def content(item: Item) -> bytes:
    assert item.content is not None
    async with item.content.open() as parts:
        return b"".join([part async for part in parts])


async def test_every_request_asks_for_ids_that_survive_a_move_and_four_run_at_once_at_most() -> None:
    async with serving_providers(contacts=3, mails=30) as sims:
        async with OUTLOOK.open(source_at(sims, {"mail_text": True}, mail_look_back_days=3_650)) as reader:
            found = await read(reader, "mail")
            await asyncio.gather(*(content(item) for item in found.items if item.content))
        mails = sims.world.outlook.mailbox(OWNER).items
        assert {item.payload["mailbox_id"] for item in found.items} <= {
            each.immutable_id for each in mails.values()
        }
        requests = sims.ledger.entries("outlook", "rest")
        assert len(requests) > 40
        assert {entry.status for entry in requests} == {200}, "the fifth at once would be answered with 429"


async def test_folders_are_found_by_well_known_names_and_by_paths_of_display_names() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        mailbox = sims.world.outlook.mailbox(OWNER)
        clients = mailbox.add_folder("Clients")
        mailbox.add_folder("Invoices", parent=clients.id)
        for number in range(120):
            mailbox.add_folder(f"Project {number}")
        late = mailbox.add_folder("Zürich")
        wanted = [
            sims.deliver("outlook", "invoice", folder=name).files[0][0]
            for name in ("inbox", "Invoices", late.name)
        ]
        sims.deliver("outlook", "invoice", folder="archive")
        config = {"folders": ["inbox", "clients/INVOICES", "zürich", "Nowhere/At all"]}
        found = await read_once(OUTLOOK, source_at(sims, config), "mail")
        assert files(found) == sorted(wanted)
        [failed] = found.failed
        assert (failed.code, failed.path) == ("folder_missing", "folders")
        assert {item.payload["folder"] for item in found.items} == {"Inbox", "Invoices", "Zürich"}


async def test_a_shared_mailbox_is_read_by_its_address() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        sims.world.exchange.mailbox(SHARED).shared_with.add(OWNER)
        mail = sims.deliver("outlook", "invoice", to=SHARED)
        sims.deliver("outlook", "invoice")
        token, _ = sims.issue_tokens("outlook", frozenset({"User.Read", "Mail.Read", "Mail.Read.Shared"}))
        source = opened(sims, "outlook", {"mailbox": SHARED}, token=token)
        found = await read_once(OUTLOOK, source, "mail")
        assert files(found) == [mail.files[0][0]]
        async with receiving() as url, OUTLOOK.open_mailbox(source) as mailbox:
            subscription = await mailbox.create_subscription(url, "s3cret")
            assert subscription.details["resource"].startswith(f"users/{SHARED}/mailFolders(")


async def test_attachments_of_all_three_kinds_are_read_and_links_are_only_noted() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        sims.deliver("outlook", "reference")
        sims.deliver("outlook", "forwarded_unnamed")
        sims.deliver("outlook", "inline_pdf")
        sims.deliver("outlook", "signature_and_invoice")
        async with OUTLOOK.open(source_at(sims)) as reader:
            found = await read(reader, "mail")
            forwarded = [item for item in found.items if item.payload["attachment"]["kind"] == "message"]
            bodies = [await content(item) for item in forwarded]
        assert not found.failed
        described = {(item.payload["attachment"]["kind"], bool(item.content)) for item in found.items}
        assert described == {("link", False), ("message", True), ("file", True), ("file", False)}
        skipped = {item.payload["attachment"]["kind"]: item for item in found.items if item.content is None}
        assert skipped["link"].payload["status"] == skipped["file"].payload["status"] == "skipped"
        assert (skipped["link"].skip_reason, skipped["file"].skip_reason) == ("link", "signature_image")
        assert skipped["file"].payload["verdict"]["fired"]
        assert [item.payload["attachment"]["filename"].endswith(".eml") for item in forwarded] == [True]
        assert b"Subject:" in bodies[0]
        shown = [item.payload["attachment"] for item in found.items if item.payload["attachment"]["is_shown"]]
        assert [each["media_type"] for each in shown] == ["image/png"]
        inline = [item.payload["attachment"] for item in found.items if item.content]
        assert any(
            each["filename"].endswith(".pdf") and each.get("disposition") == "inline" for each in inline
        )


async def test_pages_without_mails_and_mails_shown_again_lose_and_double_nothing() -> None:
    async with serving_providers(contacts=3, mails=130) as sims:
        source = source_at(sims, {"mail_text": True}, mail_look_back_days=3_650)
        plain = await read_once(OUTLOOK, source, "mail")
        sims.fail("empty_page", "outlook", operation="messages.delta", skip=1)
        sims.fail("replay", "outlook", operation="messages.delta", skip=2, repeats=5)
        again = await read_once(OUTLOOK, source, "mail")
        assert set(again.ids) == set(plain.ids)
        assert len(again.checkpoints) > len(plain.checkpoints) > 2


@pytest.mark.parametrize("status", [410, 404, 400])
async def test_a_page_link_that_graph_forgot_begins_the_folder_again(status: int) -> None:
    async with serving_providers(contacts=3, mails=130) as sims:
        source = source_at(sims, {"mail_text": True}, mail_look_back_days=3_650)
        rule = sims.fail("expired_page_token", "outlook", operation="messages.delta", status=status)
        found = await read_once(OUTLOOK, source, "mail")
        assert rule.hits == 1
        sims.faults.clear()
        assert set(found.ids) == set((await read_once(OUTLOOK, source, "mail")).ids)


async def test_after_throttling_the_read_goes_on_from_its_last_checkpoint() -> None:
    async with serving_providers(contacts=3, mails=130) as sims:
        source = source_at(sims, {"mail_text": True}, mail_look_back_days=3_650)
        whole = await read_once(OUTLOOK, source, "mail")
        sims.fail("rate_limited", "outlook", operation="messages.delta", skip=2, retry_after="7")
        async with OUTLOOK.open(source) as reader:
            begun = await read(reader, "mail", pages=1)
            with pytest.raises(Throttled) as throttled:
                await read(reader, "mail")
        assert throttled.value.retry_after == 7
        stored = json.loads(json.dumps(begun.checkpoints[-1].cursor))
        resumed = Cursor(stored, is_full=True, is_resumed=True, is_first=True)
        rest = await read_once(OUTLOOK, source, "mail", resumed)
        assert set(begun.ids) | set(rest.ids) == set(whole.ids)
        assert len(rest.ids) < len(whole.ids)


async def test_a_folder_that_is_added_later_is_read_from_the_look_back_on() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        one, two = sims.deliver("outlook", "invoice"), sims.deliver("outlook", "invoice", folder="archive")
        first = await read_once(OUTLOOK, source_at(sims), "mail")
        assert files(first) == [one.files[0][0]]
        both = source_at(sims, {"folders": ["inbox", "archive"]})
        second = await read_once(OUTLOOK, both, "mail", first.after)
        assert files(second) == [two.files[0][0]]


async def test_a_deleted_mail_a_rejected_token_and_a_strange_link_are_told_apart() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        mail = sims.deliver("outlook", "invoice")
        source = source_at(sims)
        async with OUTLOOK.open(source) as reader:
            [item] = (await read(reader, "mail")).items
            sims.change("mails", "delete", id=mail.id)
            with pytest.raises(AttachmentUnreadable) as gone:
                await content(item)
            assert gone.value.reason == "ErrorItemNotFound"
        async with OUTLOOK.open_mailbox(source) as mailbox:
            assert await mailbox.fetch_message(mail.id) is None
        sims.fail("unauthorized", "outlook")
        with pytest.raises(TokenRejected):
            await read_once(OUTLOOK, source, "mail")
        elsewhere = {"v": 1, "folders": {"x": {"next": "https://attacker.example/v1.0/me"}}}
        async with OUTLOOK.open_mailbox(source) as mailbox:
            with pytest.raises(ProviderUnavailable, match="another server"):
                await mailbox._graph.get(elsewhere["folders"]["x"]["next"])  # type: ignore[index]


async def test_an_attachment_that_is_too_large_fails_alone() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        small, _ = sims.deliver("outlook", "invoice"), sims.deliver("outlook", "large", size=400_000)
        found = await read_once(OUTLOOK, source_at(sims, max_upload_bytes=100_000), "mail")
        assert files(found) == [small.files[0][0]]
        [failed] = found.failed
        assert failed.code == "file_too_large"


async def test_a_subscription_is_created_renewed_dropped_and_missed() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        async with receiving() as url, OUTLOOK.open_mailbox(source_at(sims)) as mailbox:
            made = await mailbox.create_subscription(url, "s3cret")
            assert made.provider_id is not None
            renewed = await mailbox.renew_subscription(made)
            assert renewed.provider_id == made.provider_id
            assert renewed.expires_at >= made.expires_at
            await mailbox.drop_subscription(made)
            await mailbox.drop_subscription(made)
            with pytest.raises(SubscriptionLost):
                await mailbox.renew_subscription(made)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"folders": []}, "folders"),
        ({"folders": "inbox"}, "folders"),
        ({"folders": [7]}, "folders"),
        ({"mail_text": "yes"}, "mail_text"),
        ({"mailbox": "nobody"}, "mailbox"),
        ({"mailbox": "a/../b@c.example"}, "mailbox"),
        ({"threads": True}, "threads"),
        ({"rules": {"off": ["no_such_rule"]}}, "rules.off"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as wrong:
        OUTLOOK.check_config(config)
    assert wrong.value.field == field


def test_the_addresses_of_microsoft_name_the_tenant() -> None:
    settings = Settings(
        _env_file=None, outlook_client_id="id", outlook_client_secret="s", outlook_tenant="contoso.example"
    )
    app = OUTLOOK.oauth(settings)
    assert app is not None
    assert app.token_url == "https://login.microsoftonline.com/contoso.example/oauth2/v2.0/token"
    assert app.revoke_url is None
    with pytest.raises(Exception, match="OUTLOOK_TENANT"):
        Settings(_env_file=None, outlook_tenant="a/b")
