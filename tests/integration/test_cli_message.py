"""penstock message: emails and text messages from the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from penstock.cli.operate.message_content import attached, body_of, text_of
from penstock.errors import InvalidArgument
from tests.integration.messaging import Kind, Mail, Messaging, messaging
from tests.plugins.command_line import CommandLine, Ended
from tests.plugins.database import Database

Run: TypeAlias = Callable[..., Awaitable[Ended]]


@asynccontextmanager
async def mill(kind: Kind, database: Database, penstock: CommandLine) -> AsyncIterator[tuple[Messaging, Run]]:
    """A tenant with a provider, and `penstock message …` for it while the provider goes on answering."""
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data")

    async def run(*words: str, given: str | None = None) -> Ended:
        return await asyncio.to_thread(ours, "message", *words, "--tenant", "acme", given=given)

    async with messaging(kind, database, penstock.folder) as post:
        yield post, run


async def test_an_email_is_sent_and_waited_for(database: Database, penstock: CommandLine) -> None:
    async with mill("email", database, penstock) as (post, run), post.works.working():
        (penstock.folder / "page.html").write_text("<p>The sluice is <b>open</b>.</p>")
        (penstock.folder / "plan.pdf").write_bytes(b"%PDF-1.7")
        words = (
            "email", "--to", "a@example.org", "--to", "Bo <b@example.org>", "--cc", "c@example.org",
            "--bcc", "d@example.org", "--reply-to", "gate@example.org", "--from", "mill@example.com",
            "--subject", "Open", "--text-file", "-", "--html-file", "page.html", "--attach", "plan.pdf",
            "--wait", "20",
        )  # fmt: skip
        ended = await run(*words, "--json", given="The sluice is open.\n")
        assert ended.code == 0, ended.err
        assert ended.json == {
            "message_id": 1,
            "process_id": "comms.send_email/1",
            "state": "succeeded",
            "attempts": 1,
            "error_message": None,
        }
        assert isinstance(post.provider, Mail)
        [received] = post.provider.server.received
        assert (received.sender, len(received.recipients)) == ("mill@example.com", 4)
        assert [part.get_content_type() for part in received.message.walk()] == [
            "multipart/mixed", "multipart/alternative", "text/plain", "text/html", "application/pdf",
        ]  # fmt: skip
        again = await run(
            "email", "--to", "a@example.org", "--subject", "Open", "--text", "x", "--wait", "20"
        )
        assert (again.code, again.out) == (0, "comms.send_email/2  succeeded\n")


async def test_a_text_message_is_sent_and_waited_for(database: Database, penstock: CommandLine) -> None:
    async with mill("sms", database, penstock) as (post, run), post.works.working():
        ended = await run("sms", "--to", "+4930123456", "--text", "Open", "--wait", "20", "--json")
        assert (ended.code, ended.json["state"]) == (0, "succeeded")
        (penstock.folder / "text").write_text("Shut")
        words = ("--from", "+4930999999", "--wait", "20")
        ended = await run("sms", "--to", "+4930123456", "--text-file", "text", *words)
        assert (ended.code, ended.out) == (0, "comms.send_sms/2  succeeded\n")
        assert post.provider.taken == ["Open", "Shut"]


async def test_a_refused_command_exits_1_and_says_why(database: Database, penstock: CommandLine) -> None:
    async with mill("sms", database, penstock) as (post, run), post.works.working():
        ended = await run("sms", "--to", post.provider.nobody, "--text", "Open", "--wait", "20")
        assert (ended.code, ended.out) == (1, "comms.send_sms/1  failed\n")
        assert ended.err.startswith("error: the message was not sent: ")
        assert "21211" in ended.err
        ended = await run("sms", "--to", post.provider.nobody, "--text", "Open", "--wait", "20", "--json")
        assert (ended.code, ended.json["state"], ended.json["attempts"]) == (1, "failed", 1)
        assert "21211" in ended.json["error_message"]


async def test_without_a_worker_a_message_waits_and_the_command_says_so(
    database: Database, penstock: CommandLine
) -> None:
    async with mill("email", database, penstock) as (_, run):
        words = ("email", "--to", "a@example.org", "--subject", "Open", "--text", "Now")
        ended = await run(*words)
        assert (ended.code, ended.out, ended.err) == (0, "comms.send_email/1  open\n", "")
        ended = await run(*words, "--wait", "0.3")
        assert (ended.code, ended.out) == (1, "comms.send_email/2  open\n")
        assert "is a worker running? (penstock process show comms.send_email/2)" in ended.err


async def test_a_message_for_later_waits_for_its_time(database: Database, penstock: CommandLine) -> None:
    async with mill("sms", database, penstock) as (post, run):
        for at in ("2100-01-01", "2100-01-01T00:00", "2100-01-01T01:00+01:00"):
            ended = await run("sms", "--to", "+4930123456", "--text", "Open", "--at", at, "--json")
            assert (ended.code, ended.json["state"]) == (0, "open")
        times = await post.admin.fetch("select next_check_at from internal.open_root")
        assert {str(row[0]) for row in times} == {"2100-01-01 00:00:00+00:00"}


async def test_invalid_input_is_reported_by_name_and_sends_nothing(
    database: Database, penstock: CommandLine
) -> None:
    email = ("email", "--to", "a@example.org", "--subject", "Open")
    sms = ("sms", "--to", "+4930123456")
    wrong: list[tuple[int, str, tuple[str, ...]]] = [
        (1, "body_text", email),
        (1, "text_file", (*email, "--text", "Now", "--text-file", "-")),
        (1, "html_file", (*email, "--text-file", "-", "--html-file", "-")),
        (1, "address", (*email, "--text", "Now", "--cc", "nobody")),
        (1, "to_number", ("sms", "--to", "12", "--text", "Now")),
        (2, "--at", (*sms, "--text", "Now", "--at", "tomorrow")),
    ]
    async with mill("email", database, penstock) as (post, run):
        for code, field, words in wrong:
            ended = await run(*words, "--json", given="")
            assert (ended.code, ended.error["field"]) == (code, field), (words, ended.err)
        assert await post.is_over()


def test_a_file_that_cannot_be_read_is_reported_with_its_option(tmp_path: Path) -> None:
    (tmp_path / "latin1").write_bytes(b"\xfc")
    for field, read in (
        ("text_file", lambda: body_of(None, tmp_path / "latin1")),
        ("text_file", lambda: body_of(None, tmp_path / "missing")),
        ("html_file", lambda: text_of(tmp_path, "html_file")),
        ("attach", lambda: attached(tmp_path / "missing")),
    ):
        with pytest.raises(InvalidArgument) as refused:
            read()
        assert refused.value.field == field
