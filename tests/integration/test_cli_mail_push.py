"""The command line and the API say whether mailboxes are notified, and who is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.sources.mail.subscribing import SubscribeSource
from tests.integration.api_server import api_server, assert_problem
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.pushed_source import PushedProvider, add_mailbox
from tests.plugins.runs import NoRun


def checks(penstock: CommandLine) -> dict[str, dict[str, Any]]:
    ended = penstock("doctor", "--json")
    return {check["check"]: check for check in ended.json["checks"]}


async def test_doctor_and_show_say_how_a_mailbox_is_notified(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    provider = PushedProvider()
    public = "https://penstock.example"
    async with works_on(database, tmp_path, providers={"outlook": provider}, public_url=public) as works:
        async with works.working():
            pass  # the task types are declared
        source_id = await add_mailbox(works, subscribe=False)
        found = checks(penstock)
        assert found["push outlook"]["status"] == "warn"
        assert "PENSTOCK_PUBLIC_URL is not set" in found["push outlook"]["message"]
        assert "penstock tenant set SLUG --contact EMAIL" in found["contact"]["remedy"]
        shown = penstock("source", "show", str(source_id), "--tenant", "acme").out
        assert "off (PENSTOCK_PUBLIC_URL is not set); synced every 600 s" in shown

        changed = penstock("tenant", "set", "acme", "--contact", "office@acme.example", "--json")
        assert changed.json["contact_email"] == "office@acme.example"
        await works.engine.subscribing(SubscribeSource(source_id=source_id), NoRun(works.tenant_id))
        penstock = penstock.with_variables(PENSTOCK_PUBLIC_URL=public, PENSTOCK_SMTP_HOST="127.0.0.1")
        found = checks(penstock)
        assert found["push outlook"] == {
            "check": "push outlook",
            "status": "ok",
            "message": "1 of 1 mailbox subscribed",
            "remedy": None,
        }
        assert "contact" not in found
        shown = penstock("source", "show", str(source_id), "--tenant", "acme").out
        assert "active until" in shown

        await works.value("update ingest.subscription set expires_at = now() returning 1")
        await works.value(
            "update ingest.source set status = 'error' where source_id = $1 returning 1", source_id
        )
        found = checks(penstock)
        assert found["push outlook"]["message"].startswith("1 of 1 mailbox without a subscription")
        assert found["reconnect"]["message"] == "1 source must be connected again"
        listed = penstock("source", "list", "--tenant", "acme", "--json").json["sources"]
        assert listed[0]["health"]["connection"] == "token_refresh_failed"
        assert penstock("tenant", "set", "acme", "--contact", "none", "--json").json["contact_email"] is None


async def test_a_source_whose_provider_sends_no_notifications_has_no_push(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            pass
        source_id = await add_mailbox(works, "folder", subscribe=False)
        shown = penstock("source", "show", str(source_id), "--tenant", "acme", "--json").json
        assert (shown["health"]["push"], shown["health"]["connection"]) == (None, "active")
        assert "push" not in penstock("source", "show", str(source_id), "--tenant", "acme").out


async def test_the_contact_is_shown_and_changed_over_http(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert (await client.get("/v1/contact")).json() == {"email": None}
        set_to = await client.put("/v1/contact", json={"email": "office@acme.example"})
        assert set_to.json() == {"email": "office@acme.example"}
        assert (await client.get("/v1/contact")).json() == {"email": "office@acme.example"}
        assert_problem(await client.put("/v1/contact", json={"email": "nobody"}), 422, "contact_email")
        assert (await client.put("/v1/contact", json={"email": None})).json() == {"email": None}
        reader = await server.another_key("search")
        async with server.client(reader) as other:
            assert (await other.get("/v1/contact")).status_code == 403
