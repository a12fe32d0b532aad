"""Every fault of the simulated providers hits a sync once: it goes on by itself, or says who has to act."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from penstock.model import SourceId
from penstock.simulators.providers.faults import KINDS, Kind
from penstock.sources.bindings import loading
from tests.integration.connecting_sources import Connections, connections
from tests.plugins.database import Database
from tests.plugins.scripted_source import hurry, settled, synced
from tests.plugins.workers import eventually

SIZES = {"contacts": 205, "companies": 1, "deals": 0}
"""Two pages of contacts."""
SEARCH = "search_crm_objects"
BINDING = "hubspot-mcp@2026-04"


@dataclass(frozen=True)
class Case:
    """A fault of the second page of contacts, unless it says another place, and how the sync it hits ends."""

    fault: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    is_stale: bool = False
    """The sync begins with a refresh."""
    failed: int = 0
    """How many failures are counted; the sync completes all the same."""
    refreshed: int = 0
    ends_with: str | None = None
    """The code of a sync that cannot go on by itself."""
    status: str = "active"
    message: str | None = None
    """How the source's status message begins."""


CASES = {
    "unauthorized": Case(refreshed=1),
    "missing_scopes": Case(
        {"message": "crm.objects.contacts.read"},
        ends_with="access_forbidden",
        status="error",
        message="access_forbidden: HubSpot does not allow reading search_crm_objects",
    ),
    "rate_limited": Case({"retry_after": "1"}),
    "server_error": Case(failed=1),
    "oauth_error": Case(
        {"surface": "token", "status": 400, "message": "invalid_grant", "skip": 0},
        is_stale=True,
        refreshed=1,
        ends_with="refresh_token_invalid",
        status="error",
        message="refresh_token_invalid: invalid_grant",
    ),
    "expire_tokens": Case(refreshed=1),
    "revoke_grants": Case(
        refreshed=1,
        ends_with="refresh_token_invalid",
        status="error",
        message="refresh_token_invalid: invalid_grant",
    ),
    "slow": Case({"seconds": 0.3}),
    "hang": Case(failed=1),
    "disconnect": Case(failed=1),
    # The refresh token was rotated, and nobody has the new one.
    "lost_response": Case(
        {"surface": "token", "skip": 0},
        is_stale=True,
        failed=1,
        refreshed=2,
        ends_with="refresh_token_invalid",
        status="error",
        message="refresh_token_invalid: invalid_grant",
    ),
    "not_json": Case(failed=1),
    "drop_session": Case(),
    "tool_error": Case(failed=1),
    "rpc_error": Case({"status": 429, "retry_after": "1"}),
    "huge": Case(),
    "prose": Case(),
    "mismatch": Case(),
    "missing_tool": Case(
        {"tool": SEARCH, "skip": 0},
        ends_with="binding_mismatch",
        status="provider_error",
        message=f"binding_mismatch: HubSpot does not match the binding {BINDING}",
    ),
    "missing_argument": Case(
        {"tool": SEARCH, "argument": "filterGroups", "skip": 0},
        ends_with="binding_mismatch",
        status="provider_error",
        message=f"binding_mismatch: HubSpot does not match the binding {BINDING}",
    ),
    "drift": Case({"changes": [{"kind": "contacts", "action": "change"}]}),
    "expired_page_token": Case({"skip": 0}, {"hubspot_bindings": "hubspot-rest@v3"}),
}


OF_MAILBOXES = {"empty_page", "replay"}
"""Faults of Graph's delta queries, which no connected source makes."""


def test_every_fault_has_its_case() -> None:
    assert CASES.keys() == set(KINDS) - OF_MAILBOXES


@pytest.mark.parametrize("kind", CASES)
async def test_a_sync_survives_the_fault_or_says_who_has_to_act(
    kind: Kind, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[kind]
    if kind == "hang":
        _be_impatient(monkeypatch)
    async with connections(database, tmp_path, sizes=SIZES, **case.settings) as here:
        here.simulators.hubspot.eras = "legacy" if kind == "drop_session" else "both"
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        if case.is_stale:
            await here.expire(source_id)
        here.simulators.fail(kind, "hubspot", **{"skip": 2, **case.fault})
        async with here.works.working():
            job = await _hurried(here, source_id)
            source = await here.source(source_id)
            expected = ("failed", case.ends_with) if case.ends_with else ("completed", None)
            assert (job["status"], job["error_code"]) == expected, job
            assert (source["status"], job["items_failed"]) == (case.status, case.failed), job
            assert len(json.loads(job["error_details"])) == case.failed
            assert here.refreshes() == case.refreshed
            if case.message is not None:
                assert source["status_message"].startswith(case.message)
            if case.ends_with is not None:
                job = await _mended(here, source_id)
                assert (job["status"], job["error_code"]) == ("completed", None), job
        if kind not in ("missing_tool", "missing_argument"):  # which are no requests
            hits = [entry for entry in here.simulators.ledger.entries("hubspot") if entry.fault == kind]
            assert len(hits) == 1
        contacts = "select array[count(*), count(distinct external_id)] from ingest.source_document"
        contacts += " where stream = 'contacts'"
        assert await here.works.value(contacts) == [205, 205], "none is missing, none is twice"
        assert await _attempts_charged(here) <= case.failed + (case.ends_with is not None)


async def test_a_token_endpoint_that_stays_down_fails_the_sync_after_five_deliveries_and_not_the_source(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.expire(source_id)
        before = (await here.source(source_id))["token_expires_at"]
        here.simulators.fail("server_error", "hubspot", surface="token", times=None)
        async with here.works.working():
            job = await _hurried(here, source_id)
        assert (job["status"], job["error_message"]) == ("failed", "max_retries_exceeded")
        assert (job["items_failed"], here.refreshes()) == (5, 5)
        details = json.loads(job["error_details"])
        assert {each["code"] for each in details} == {"provider_unavailable"}, "why it was tried again"
        source = await here.source(source_id)
        assert (source["status"], source["status_message"]) == ("active", None)
        assert source["token_expires_at"] == before
        assert await here.generations(source_id, "access_token") == [(1, False)], "the vault was not touched"
        state = "select queues.task_state(task_id) from ingest.ingestion_job where job_id = $1"
        assert await here.works.value(state, job["job_id"]) not in ("ready", "waiting", "parked", "running")


async def test_a_token_rejected_in_mid_stream_hands_the_task_back_uncharged(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path, sizes=SIZES) as here:
        source_id = await here.connect()
        here.simulators.fail("unauthorized", "hubspot", skip=2)
        here.simulators.fail("slow", "hubspot", surface="token", seconds=1)
        async with here.works.working():
            expired = "select token_expires_at is null from ingest.source"
            await eventually(lambda: here.works.value(expired), what="the token is no longer used")
            job = await settled(here.works, source_id)
        assert (job["status"], job["items_failed"], job["run"]) == ("completed", 0, 2)
        assert await _attempts_charged(here) == 0
        pages = here.simulators.ledger.entries("hubspot", "mcp", SEARCH)
        first = [page for page in pages if "filterGroups" not in page.arguments]
        assert len([page for page in first if page.arguments["objectType"] == "contacts"]) == 1, "it went on"


async def _hurried(here: Connections, source_id: SourceId) -> dict[str, Any]:
    hurrying = asyncio.create_task(hurry(here.works, source_id))
    try:
        return await settled(here.works, source_id)
    finally:
        hurrying.cancel()


async def _mended(here: Connections, source_id: SourceId) -> dict[str, Any]:
    """What the health asks for is done, and the source is synced again."""
    shown = await here.works.engine.sources.show(here.works.tenant_id, source_id)
    assert shown.health.state == "needs_you"
    assert shown.health.action
    here.simulators.faults.clear()
    if shown.status != "error":
        return await synced(here.works, source_id)
    assert "penstock source connect hubspot" in shown.health.action
    assert await here.connect() == source_id
    return await settled(here.works, source_id)


async def _attempts_charged(here: Connections) -> int:
    failed: int = await here.works.value(
        "select count(*) from queues.attempt a where a.outcome = 'failed' and a.task_id in"
        " (select task_id from ingest.ingestion_job)"
    )
    return failed


def _be_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait a minute for a call that hangs."""
    load = loading.load_binding
    text = (files("penstock.sources.hubspot") / f"bindings/{BINDING}.toml").read_text()
    quick = loading.parse_binding(text.replace("timeout = 60", "timeout = 2"), BINDING)
    monkeypatch.setattr(
        loading, "load_binding", lambda package, name: quick if name == BINDING else load(package, name)
    )
