"""When a person must connect a source again, the tenant's contact gets one email per incident."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import InvalidArgument
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.pushed_source import PushedProvider, add_mailbox
from tests.plugins.smtp import mail_server
from tests.plugins.workers import eventually

if TYPE_CHECKING:
    from penstock.model import SourceId

CONTACT = "office@acme.example"


async def breaks(works: Works, source_id: SourceId) -> None:
    """The provider rejected its refresh token."""
    await works.value(
        "update ingest.source set status = 'error', status_message = 'refresh_token_invalid: invalid_grant'"
        " where source_id = $1 returning 1",
        source_id,
    )


async def works_again(works: Works, source_id: SourceId) -> None:
    """It was connected again, and synced."""
    await works.value(
        "update ingest.source set status = 'active', status_message = null, synced_at = clock_timestamp()"
        " where source_id = $1 returning 1",
        source_id,
    )


async def maintained(works: Works, times: int = 1) -> int:
    """How many emails there are after maintenance ran."""
    for _ in range(times):
        await works.engine.push_maintenance.run_once()
    return int(await works.value("select count(*) from comms.email_message"))


async def test_one_email_is_sent_per_incident_however_often_maintenance_runs(
    database: Database, tmp_path: Path
) -> None:
    async with mail_server() as server:
        settings: dict[str, Any] = {**server.settings, "smtp_from": "penstock@example.org"}
        providers = {"outlook": PushedProvider()}
        async with works_on(database, tmp_path, providers=providers, **settings) as works:
            async with works.working():
                await works.engine.accounts.set_tenant(works.tenant_id, contact_email=CONTACT)
                source_id = await add_mailbox(works, name="anna@acme.example", subscribe=False)
                assert await maintained(works) == 0
                await breaks(works, source_id)
                assert await maintained(works, 5) == 1
                await eventually(lambda: len(server.received) == 1, within=60)
                (mail,) = server.received
                assert mail.recipients == (CONTACT,)
                assert mail.message["subject"] == "Connect Outlook again: anna@acme.example"
                text = mail.message.get_content()
                assert "penstock source connect outlook" in text

            # Connected again, but it fails before a sync succeeds (no worker runs): still the same incident.
            await works.value(
                "update ingest.source set status = 'active' where source_id = $1 returning 1", source_id
            )
            assert await maintained(works) == 1
            await breaks(works, source_id)
            assert await maintained(works, 3) == 1

            await works_again(works, source_id)
            assert await maintained(works) == 1
            await breaks(works, source_id)
            assert await maintained(works, 3) == 2, "it had worked in between"
            async with works.working():
                await eventually(lambda: len(server.received) == 2, within=60)
                assert await health_of(works, source_id) == ("needs_you", "token_refresh_failed")


async def health_of(works: Works, source_id: SourceId) -> tuple[str, str]:
    row = await works.value(
        "select jsonb_build_array(h ->> 'state', h ->> 'connection')::text"
        " from ingest.source s, ingest.source_health(s) h where s.source_id = $1",
        source_id,
    )
    state, connection = json.loads(row)
    return state, connection


async def test_a_tenant_without_a_contact_is_told_once_it_has_one(database: Database, tmp_path: Path) -> None:
    providers = {"outlook": PushedProvider()}
    async with works_on(database, tmp_path, providers=providers, smtp_host="127.0.0.1") as works:
        async with works.working():
            pass
        source_id = await add_mailbox(works, subscribe=False)
        await breaks(works, source_id)
        assert await maintained(works, 2) == 0
        await works.engine.accounts.set_tenant(works.tenant_id, contact_email=CONTACT)
        assert await maintained(works, 2) == 1


async def test_a_source_that_works_again_before_anybody_was_told_sends_nothing(
    database: Database, tmp_path: Path
) -> None:
    providers = {"outlook": PushedProvider()}
    async with works_on(database, tmp_path, providers=providers, smtp_host="127.0.0.1") as works:
        async with works.working():
            pass
        source_id = await add_mailbox(works, subscribe=False)
        await breaks(works, source_id)
        await maintained(works)
        await works_again(works, source_id)
        await works.engine.accounts.set_tenant(works.tenant_id, contact_email=CONTACT)
        assert await maintained(works, 2) == 0


async def test_a_contact_must_be_an_address(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works:
        accounts = works.engine.accounts
        for wrong in ("acme", "a@b c", "a@b\nBcc: x@y", "<a@b>", "@", "a" * 400 + "@b.example"):
            with pytest.raises(InvalidArgument) as refused:
                await accounts.set_tenant(works.tenant_id, contact_email=wrong)
            assert refused.value.field == "contact_email"
        assert (await accounts.set_tenant(works.tenant_id, contact_email=CONTACT)).contact_email == CONTACT
        assert (await accounts.set_tenant(works.tenant_id, contact_email=None)).contact_email is None
