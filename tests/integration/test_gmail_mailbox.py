"""What the Gmail mailbox does at the limits of Gmail's API."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from penstock.errors import InvalidArgument
from penstock.simulators.providers import ProviderSimulators, serving_providers
from penstock.sources.gmail.contents import decoded
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.mail.attachments import AttachmentUnreadable
from penstock.sources.protocol import Cursor, Item, OpenSource
from tests.integration.reading_sources import Pass, opened, read, read_once

GMAIL = GmailProvider()
CONTENT = bytes(range(256)) * 700


def source_at(
    sims: ProviderSimulators, config: Mapping[str, Any] | None = None, **settings: Any
) -> OpenSource:
    token, _ = sims.issue_tokens("gmail")
    return opened(sims, "gmail", {"threads": False, **(config or {})}, token=token, **settings)


def files(found: Pass) -> list[str]:
    return sorted(item.payload["attachment"]["filename"] for item in found.items if item.content)


async def content(item: Item) -> bytes:
    assert item.content is not None
    async with item.content.open() as parts:
        return b"".join([part async for part in parts])


async def pieces(text: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


@pytest.mark.parametrize("size", [1, 3, 7, 1_000, 1_000_000])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 1_000, len(CONTENT)])
@pytest.mark.parametrize("padding", ["=", "\\u003d", ""])
async def test_an_attachment_inside_json_is_decoded_whatever_pieces_arrive(
    size: int, length: int, padding: str
) -> None:
    if size == 1 and length == len(CONTENT):
        size = 11
    encoded = base64.urlsafe_b64encode(CONTENT[:length]).decode().replace("=", padding)
    text = f'{{\n  "size": {length},\n  "data": "{encoded}"\n}}'.encode()
    found = [piece async for piece in decoded(pieces(text, size))]
    assert b"".join(found) == CONTENT[:length]
    assert max(map(len, found), default=0) <= size + 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"size": 3}', "cut_off"),
        (b'{"size": 3, "data": "QUJ', "cut_off"),
        (b"", "cut_off"),
        (b'{"data": "Q!J?"}', "bad_encoding"),
        (b" " * 70_000 + b'{"data": "QUJD"}', "cut_off"),
    ],
)
async def test_an_answer_without_the_bytes_of_an_attachment_says_so(text: bytes, reason: str) -> None:
    with pytest.raises(AttachmentUnreadable) as unreadable:
        [piece async for piece in decoded(pieces(text, 5_000))]
    assert unreadable.value.reason == reason


async def test_hidden_mails_stay_out_until_somebody_frees_them() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        for label in ("SPAM", "TRASH", "DRAFT"):
            sims.deliver("gmail", "invoice", labels=(label,))
        async with GMAIL.open(source_at(sims)) as reader:
            first = await read(reader, "mail")
            assert first.ids == []
            spam = sims.deliver("gmail", "invoice", labels=("SPAM",))
            second = await read(reader, "mail", first.after)
            assert second.ids == []
            sims.world.gmail.label(spam.id, add=("INBOX",), remove=("SPAM",))
            third = await read(reader, "mail", second.after)
            assert files(third) == [spam.files[0][0]]


async def test_an_attachment_id_that_is_too_old_is_asked_for_again() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        mail = sims.deliver("gmail", "two_files")
        async with GMAIL.open(source_at(sims)) as reader:
            found = await read(reader, "mail")
            sims.fail("server_error", "gmail", operation="messages.attachments.get", status=404, times=1)
            bodies = {item.payload["attachment"]["filename"]: await content(item) for item in found.items}
        assert bodies == {part.filename: part.content for part in mail.sent.files}
        again = [entry for entry in sims.ledger.entries("gmail") if entry.operation == "messages.get"]
        assert len(again) == 2


async def test_mails_that_arrive_during_the_first_list_are_read_in_the_same_pass() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        early = sims.deliver("gmail", "invoice")
        late: list[Any] = []
        sims.fail(
            "drift",
            "gmail",
            operation="messages.get",
            action=lambda: late.append(sims.deliver("gmail", "invoice")),
        )
        found = await read_once(GMAIL, source_at(sims), "mail")
        assert files(found) == sorted([early.files[0][0], late[0].files[0][0]])


async def test_a_first_read_is_bounded_and_goes_on_after_any_checkpoint() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        mails = [sims.deliver("gmail", "invoice") for _ in range(230)]
        whole = await read_once(GMAIL, source_at(sims), "mail")
        assert len(whole.ids) == 230
        for checkpoint in whole.checkpoints[:-1]:
            stored = json.loads(json.dumps(checkpoint.cursor))
            resumed = Cursor(stored, is_full=True, is_resumed=True, is_first=True)
            rest = await read_once(GMAIL, source_at(sims), "mail", resumed)
            assert rest.checkpoints[-1].done
            assert set(rest.ids) <= set(whole.ids)
        bounded = await read_once(GMAIL, source_at(sims, mail_initial_sync_max_messages=20), "mail")
        assert (len(bounded.ids), bounded.checkpoints[-1].left_out) == (20, 210)
        assert set(files(bounded)) == {mail.files[0][0] for mail in mails[-20:]}


async def test_notifications_are_asked_for_and_stopped() -> None:
    async with serving_providers(contacts=3, mails=0) as sims:
        topic = sims.settings()["gmail_push_topic"]
        async with GMAIL.open_mailbox(source_at(sims)) as mailbox:
            made = await mailbox.create_subscription(topic, "")
            assert made.details["topic"] == topic
            assert (await mailbox.renew_subscription(made)).expires_at >= made.expires_at
            await mailbox.drop_subscription(made)
            await mailbox.drop_subscription(made)


async def test_threads_and_mails_are_separate_streams_that_can_be_switched_off() -> None:
    async with serving_providers(contacts=3, mails=0, threads=3) as sims:
        streams = {}
        configs: dict[str, dict[str, Any]] = {
            "default": {"threads": True},
            "threads": {"threads": True, "attachments": False},
            "mails": {"threads": False},
            "mcp": {"threads": True, "bindings": ["sandbox@1"]},
        }
        for name, config in configs.items():
            async with GMAIL.open(source_at(sims, config)) as reader:
                streams[name] = tuple(reader.streams)
        assert streams == {
            "default": ("threads", "mail"),
            "threads": ("threads",),
            "mails": ("mail",),
            "mcp": ("threads",),
        }
    assert GMAIL.check_config({}) == {}
    with pytest.raises(InvalidArgument) as nothing:
        GMAIL.check_config({"threads": False, "attachments": False})
    assert nothing.value.field == "threads"
