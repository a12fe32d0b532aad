"""What the rules did not keep is listed, comes back when a person wants it, and teaches the rules."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path
from uuid import UUID

import pytest

from penstock.accounts import Accounts
from penstock.cli.demo.files import pdf
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument, NotFound, Refused
from penstock.model import uuid7
from penstock.sources.decision_rows import Decision
from penstock.sources.rule_changes import RuleChanges
from penstock.sources.sync import writing
from tests.integration.mailboxes import KINDS, Mailroom, mailroom
from tests.plugins.database import Database
from tests.plugins.workers import eventually

both = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.timeout(180)

SENDER = "billing@blocked.example"
BLOCKED = {"rules": {"block_senders": ["blocked.example"]}}


def mail(number: int = 1, sender: str = SENDER) -> bytes:
    """A mail with an invoice."""
    made = EmailMessage()
    made["From"] = f"Billing <{sender}>"
    made["To"] = "office@northmill.example"
    made["Subject"] = f"Your invoice {number}"
    made["Message-ID"] = f"<{number}@blocked.example>"
    made["Date"] = "Tue, 17 Nov 2026 08:00:00 +0000"
    made.set_content("Please find the invoice attached.")
    content = pdf(f"Invoice {number}", [[f"Amount due: {number}00 EUR"]])
    made.add_attachment(content, "application", "pdf", filename=f"invoice-{number}.pdf")
    return made.as_bytes()


async def skipped(room: Mailroom) -> list[Decision]:
    return (await room.works.engine.sources.skipped(room.works.tenant_id, room.source_id)).items


async def restored(room: Mailroom, decision_id: UUID, state: str = "restored") -> Decision:
    """Restore it, and wait until the sync that this asks for has dealt with it."""
    sources, tenant_id = room.works.engine.sources, room.works.tenant_id
    await sources.restore(tenant_id, decision_id, decided_by="ada")

    async def is_so() -> bool:
        return (await found()).state == state

    async def found() -> Decision:
        return next(each for each in await skipped(room) if each.decision_id == decision_id)

    await eventually(is_so, within=60)
    return await found()


@both
async def test_what_a_rule_dropped_is_listed_with_its_mail_and_the_reason(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind, BLOCKED) as room:
        room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        assert (decision.stage, decision.name, decision.skip_reason, decision.state) == (
            1,
            "blocked_sender",
            "blocked_sender",
            "skipped",
        )
        assert (decision.sender, decision.subject, decision.filename) == (
            SENDER,
            "Your invoice 1",
            "invoice-1.pdf",
        )
        assert decision.reasons[0]["reason"] == f"{SENDER} is in the source's block_senders"
        assert await room.files() == []
        await room.sync(full=True)
        assert [each.decision_id for each in await skipped(room)] == [decision.decision_id]


@both
async def test_what_a_person_restores_is_fetched_and_its_sender_is_not_dropped_again(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind, BLOCKED) as room:
        room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        done = await restored(room, decision.decision_id)
        assert (done.reversed_by, done.outcome) == ("ada", "restored")
        await room.indexed(1)
        [document_id] = [row["document_id"] for row in await room.items()]
        assert document_id == done.document_id

        room.deliver(raw=mail(2))
        room.deliver(raw=mail(3, "other@blocked.example"))
        await room.sync()
        assert await room.files() == ["invoice-1.pdf", "invoice-2.pdf"]
        await room.sync(full=True)
        assert await room.files() == ["invoice-1.pdf", "invoice-2.pdf"]

        listed = await room.works.engine.sources.rules(room.works.tenant_id, room.source_id)
        rule = next(each for each in listed.items if each.name == "blocked_sender")
        assert (rule.dropped, rule.reversed) == (2, 1)
        assert listed.block_senders == ["blocked.example"]


async def test_restoring_twice_changes_nothing(database: Database, tmp_path: Path) -> None:
    async with mailroom(database, tmp_path, "outlook", BLOCKED) as room:
        room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        first = await restored(room, decision.decision_id)
        await room.indexed(1)
        again = await room.works.engine.sources.restore(
            room.works.tenant_id, decision.decision_id, decided_by="grace"
        )
        assert again == first
        assert len(await room.ingestions()) == 1


async def test_restoring_a_mail_that_is_gone_says_so_and_can_be_tried_again(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook", BLOCKED) as room:
        gone = room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        room.change("delete", gone)
        done = await restored(room, decision.decision_id, "not_restored")
        assert done.outcome == "mail_gone"
        assert done.outcome_message == "the mail, or this part of it, is no longer in the mailbox"
        job = await room.sync()
        assert job["items_failed"] == 0, "it is not tried at every sync"
        tried = await restored(room, decision.decision_id, "not_restored")
        assert tried.outcome == "mail_gone"
        assert await room.files() == []


async def test_another_tenant_can_neither_list_nor_restore_a_decision(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook", BLOCKED) as room:
        room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        engine = room.works.engine
        operators = await TenantPool.open(database.operator_url, application_name="operator", size=1)
        try:
            other = (await Accounts(operators, engine.settings).create_tenant("other")).tenant_id
        finally:
            await operators.close()
        assert (await engine.sources.skipped(other)).items == []
        for call in (
            engine.sources.skipped(other, room.source_id),
            engine.sources.rules(other, room.source_id),
            engine.sources.set_rules(other, room.source_id, RuleChanges(off=["spam"])),
            engine.sources.restore(other, decision.decision_id),
        ):
            with pytest.raises(NotFound):
                await call
        assert [each.state for each in await skipped(room)] == ["skipped"]


async def test_a_decision_is_written_only_together_with_its_item(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mailroom(database, tmp_path, "outlook", BLOCKED) as room:
        put = writing.PUT_DECISIONS
        monkeypatch.setattr(writing, "PUT_DECISIONS", f"{put}, 1 / (select 0)")
        room.deliver(raw=mail())
        await room.works.engine.sources.sync(room.works.tenant_id, room.source_id)

        async def is_tried() -> bool:
            [health] = [each.health for each in await room.works.engine.sources.list(room.works.tenant_id)]
            return health.state == "retrying"

        await eventually(is_tried, within=60)
        assert (await room.items(), await skipped(room)) == ([], [])
        monkeypatch.setattr(writing, "PUT_DECISIONS", put)

        async def is_written() -> bool:
            return len(await room.items()) == len(await skipped(room)) == 1

        await eventually(is_written, within=60)


async def test_rules_are_changed_one_at_a_time_and_checked(database: Database, tmp_path: Path) -> None:
    async with mailroom(database, tmp_path, "outlook", working=False) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        await sources.set_rules(tenant_id, room.source_id, RuleChanges(off=["spam"], block=["a.example"]))
        found = await sources.set_rules(
            tenant_id,
            room.source_id,
            RuleChanges(weights={"amount": 0.5}, allow=["@A.example", "b@c.example"]),
        )
        changed = {each.name: (each.action, each.weight) for each in found.items if each.is_changed}
        assert changed == {"spam": ("off", None), "amount": ("on", 0.5)}
        assert (found.allow_senders, found.block_senders) == (["a.example", "b@c.example"], [])
        found = await sources.set_rules(
            tenant_id,
            room.source_id,
            RuleChanges(on=["spam"], weights={"amount": None}, forget=["a.example", "b@c.example"]),
        )
        assert [each.name for each in found.items if each.is_changed] == []
        assert found.allow_senders == []
        for wrong in (
            RuleChanges(off=["nonsense"]),
            RuleChanges(weights={"spam": 1}),
            RuleChanges(weights={"amount": -1}),
            RuleChanges(block=["nobody"]),
        ):
            with pytest.raises(InvalidArgument):
                await sources.set_rules(tenant_id, room.source_id, wrong)


async def test_a_decision_nobody_made_cannot_be_restored(database: Database, tmp_path: Path) -> None:
    async with mailroom(database, tmp_path, "outlook", BLOCKED) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        with pytest.raises(NotFound, match="there is no decision"):
            await sources.restore(tenant_id, uuid7())
        room.deliver(raw=mail())
        await room.sync()
        [decision] = await skipped(room)
        await sources.pause(tenant_id, room.source_id)
        with pytest.raises(Refused, match="paused"):
            await sources.restore(tenant_id, decision.decision_id)
        assert [each.state for each in await skipped(room)] == ["skipped"]
