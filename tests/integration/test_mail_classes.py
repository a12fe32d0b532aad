"""Mails are classified by default, a mailbox may choose otherwise; what a person restores teaches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.demo.files import pdf
from penstock.errors import InvalidArgument
from penstock.simulators.llm import KEY, LlmSimulator
from penstock.simulators.serving import serving
from penstock.sources.decision_rows import Decision
from tests.integration.mailboxes import Mailroom, mailroom
from tests.plugins.database import Database
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)


def spring(number: int) -> bytes:
    words = f"Brochure {number}: a discount for readers of this brochure, and a webinar."
    return pdf("Spring", [[words]])


def mail(number: int, sender: str, subject: str, filename: str, content: bytes, **headers: str) -> bytes:
    made = EmailMessage()
    made["From"] = sender
    made["To"] = "office@northmill.example"
    made["Subject"] = subject
    made["Message-ID"] = f"<{number}@shop.example>"
    made["Date"] = "Tue, 17 Nov 2026 08:00:00 +0000"
    for name, value in headers.items():
        made[name] = value
    made.set_content("Have a look.")
    made.add_attachment(content, "application", "pdf", filename=filename)
    return made.as_bytes()


def campaign(number: int = 1) -> bytes:
    """A mail of a service for mass mail with a brochure, which the local model is sure of."""
    words = [
        "Discover our new products! Exclusive offer for our readers, limited time only.",
        "Quality and design for your home: visit our showroom and order the catalogue.",
        f"Be inspired by colours that make every home a happy one, edition {number}.",
    ]
    headers = {"List-Unsubscribe": "<https://shop.example/leave>", "X-SG-EID": "1"}
    content = pdf("Discover our new products", [words])
    return mail(number, "news@shop.example", "New collection", f"look-{number}.pdf", content, **headers)


def brochure(number: int = 1, sender: str = "news@shop.example") -> bytes:
    """A mail with a brochure, of which the rules are not sure."""
    return mail(number, sender, f"Spring {number}", f"spring-{number}.pdf", spring(number))


@asynccontextmanager
async def llm_room(database: Database, folder: Path, **config: Any) -> AsyncIterator[Mailroom]:
    simulator = LlmSimulator()
    async with (
        serving(simulator.app) as url,
        mailroom(
            database,
            folder,
            "outlook",
            {"classifier": "llm", **config},
            classifier_url=f"{url}/v1",
            classifier_api_key=KEY,
            classifier_model="simulated",
        ) as room,
    ):
        yield room


async def skipped(room: Mailroom) -> list[Decision]:
    return (await room.works.engine.sources.skipped(room.works.tenant_id, room.source_id)).items


async def ended(room: Mailroom, **expected: str) -> None:
    """Wait until the documents have these statuses, by the first part of their file names."""

    async def is_so() -> bool:
        rows = await room.rows("select filename, status::text from ingest.document where deleted_at is null")
        return {row["filename"].partition(".")[0]: row["status"] for row in rows} == expected

    await eventually(is_so, within=120)


async def test_a_mailbox_is_classified_by_the_local_model_unless_it_is_told_otherwise(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook") as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        assert (await sources.show(tenant_id, room.source_id)).classifier == "local"
        room.deliver(raw=campaign())
        house_rules = pdf("House rules", [["Nobody drills at noon, and the yard belongs to everybody."]])
        room.deliver(raw=mail(7, "ann@good.example", "for you", "read.pdf", house_rules))
        await room.sync()
        await room.works.hand_in("Discover our new products, exclusive offer for readers.", "uploaded.md")
        await ended(room, **{"look-1": "skipped", "read": "indexed", "uploaded": "indexed"})
        [decision] = await skipped(room)
        assert (decision.stage, decision.name) == (2, "marketing_material")
        changed = await sources.configure(tenant_id, room.source_id, {"classifier": "off"})
        assert changed.classifier == "off"
        await sources.restore(tenant_id, decision.decision_id)
        room.deliver(raw=campaign(2))
        await room.sync()
        await ended(
            room, **{"look-1": "indexed", "look-2": "indexed", "read": "indexed", "uploaded": "indexed"}
        )


async def test_an_installation_may_leave_mails_alone(database: Database, tmp_path: Path) -> None:
    async with mailroom(database, tmp_path, "outlook", mail_classifier="off") as room:
        shown = await room.works.engine.sources.show(room.works.tenant_id, room.source_id)
        assert shown.classifier == "off"
        room.deliver(raw=campaign())
        await room.sync()
        await ended(room, **{"look-1": "indexed"})


async def test_a_language_model_that_is_configured_sorts_mails(database: Database, tmp_path: Path) -> None:
    async with llm_room(database, tmp_path, classifier=None) as room:
        shown = await room.works.engine.sources.show(room.works.tenant_id, room.source_id)
        assert shown.classifier == "llm"
        room.deliver(raw=brochure())
        await room.sync()
        await ended(room, **{"spring-1": "skipped"})


async def test_a_mailbox_may_have_a_classifier_that_uploads_do_not_have(
    database: Database, tmp_path: Path
) -> None:
    async with llm_room(database, tmp_path) as room:
        room.deliver(raw=brochure())
        invoice = pdf("Invoice 7", [["Amount due: 700 EUR"]])
        room.deliver(raw=mail(7, "billing@good.example", "Your invoice 7", "invoice7.pdf", invoice))
        await room.sync()
        await room.works.hand_in("A brochure with a discount, uploaded by a person.", "uploaded.md")
        await ended(room, **{"spring-1": "skipped", "invoice7": "indexed", "uploaded": "indexed"})
        [decision] = await skipped(room)
        assert (decision.stage, decision.name, decision.sender, decision.subject, decision.filename) == (
            2,
            "marketing_material",
            "news@shop.example",
            "Spring 1",
            "spring-1.pdf",
        )


async def test_a_class_that_a_person_overruled_is_kept_from_that_sender(
    database: Database, tmp_path: Path
) -> None:
    async with llm_room(database, tmp_path) as room:
        room.deliver(raw=brochure())
        await room.sync()
        await ended(room, **{"spring-1": "skipped"})
        [decision] = await skipped(room)
        await room.works.engine.sources.restore(room.works.tenant_id, decision.decision_id)
        room.deliver(raw=brochure(2))
        room.deliver(raw=brochure(3, "news@other.example"))
        await room.sync()
        await ended(room, **{"spring-1": "indexed", "spring-2": "indexed", "spring-3": "skipped"})


async def test_a_source_may_keep_a_class_that_others_skip(database: Database, tmp_path: Path) -> None:
    async with llm_room(database, tmp_path, classes={"marketing_material": "keep"}) as room:
        room.deliver(raw=brochure())
        await room.sync()
        await ended(room, **{"spring-1": "indexed"})
        wrong: list[dict[str, Any]] = [
            {"classes": {"nonsense": "keep"}},
            {"classes": ["personal"]},
            {"classifier": "psychic"},
        ]
        for config in wrong:
            with pytest.raises(InvalidArgument):
                await room.works.engine.sources.configure(room.works.tenant_id, room.source_id, config)


async def test_a_file_that_a_person_uploads_too_is_not_skipped(database: Database, tmp_path: Path) -> None:
    async with llm_room(database, tmp_path) as room:
        content = spring(1)
        room.deliver(raw=mail(1, "news@shop.example", "Spring", "spring.pdf", content))
        await room.sync()
        await ended(room, spring="skipped")
        await room.works.hand_in(content, "mine.pdf")
        await ended(room, spring="indexed")
