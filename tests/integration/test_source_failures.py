"""Failures of providers over MCP and REST, told apart by the type of the error."""

from __future__ import annotations

import asyncio
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.resources import files
from typing import Any

import pytest

from penstock.simulators.providers import serving_providers
from penstock.sources.bindings import loading
from penstock.sources.errors import (
    AccessForbidden,
    BindingMismatch,
    ProviderUnavailable,
    SourceError,
    Throttled,
    TokenRejected,
)
from penstock.sources.hubspot.provider import HubSpotProvider
from penstock.sources.protocol import OpenSource
from penstock.sources.responses import DAILY_WAIT
from tests.integration.reading_sources import opened, read, read_once, token_for

HUBSPOT = HubSpotProvider()
REST = {"bindings": ["hubspot-rest@v3"]}
SEARCH = "search_crm_objects"


def simulated(**sizes: Any) -> Any:
    return serving_providers(**{"contacts": 250, "companies": 1, "deals": 0, **sizes})


async def failure(source: OpenSource, kind: type[SourceError] = SourceError) -> Any:
    """The error of reading contacts; neither it nor its traceback shows the token."""
    with pytest.raises(kind) as caught:
        await read_once(HUBSPOT, source, "contacts")
    shown = "".join(traceback.format_exception(caught.value))
    assert source.access_token is not None
    assert source.access_token not in shown + repr(caught.value.args)
    assert caught.value.__context__ is None, "the original error's request holds the token"
    return caught.value


async def test_every_failure_of_a_provider_has_its_type_over_mcp_and_over_rest() -> None:
    async with simulated() as sims:
        for config in ({}, REST):
            source = opened(sims, "hubspot", config)

            async def failing(kind: str, source: OpenSource = source, **options: Any) -> Any:
                sims.faults.clear()
                sims.fail(kind, "hubspot", **options)
                return await failure(source)

            assert isinstance(await failing("unauthorized"), TokenRejected)
            forbidden = await failing("missing_scopes", message="crm.objects.contacts.read")
            assert isinstance(forbidden, AccessForbidden)
            assert "crm.objects.contacts.read" in forbidden.message
            throttled = await failing("rate_limited", retry_after="7")
            assert isinstance(throttled, Throttled)
            assert throttled.retry_after == 7
            date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
            assert 90 < (await failing("rate_limited", retry_after=date)).retry_after <= 100
            assert (await failing("rate_limited")).retry_after == 10, "HubSpot's own interval"
            assert (await failing("rate_limited", policy="DAILY")).retry_after == DAILY_WAIT
            assert type(await failing("server_error", status=502)) is ProviderUnavailable
            assert isinstance(await failing("disconnect"), ProviderUnavailable)
            assert isinstance(await failing("not_json"), ProviderUnavailable)


async def test_failures_inside_mcp_have_their_types_too() -> None:
    async with simulated() as sims:
        source = opened(sims, "hubspot")

        async def failing(kind: str, **options: Any) -> Any:
            sims.faults.clear()
            sims.fail(kind, "hubspot", **options)
            return await failure(source)

        throttled = await failing("rpc_error", status=429, retry_after="3")
        assert isinstance(throttled, Throttled)
        assert throttled.retry_after == 3
        assert isinstance(await failing("rpc_error", status=401), TokenRejected)
        failed = await failing("tool_error", message="Sam Miller has no access")
        assert isinstance(failed, ProviderUnavailable)
        assert "Miller" not in failed.message, "a tool's text may name people"
        assert isinstance(await failing("tool_error", message="HTTP 503: try later"), ProviderUnavailable)
        assert isinstance(await failing("tool_error", message="HTTP 401: expired"), TokenRejected)
        wrong = await failing("tool_error", message="Unknown tool: search_crm_objects")
        assert isinstance(wrong, BindingMismatch)


async def test_a_rejected_token_is_told_from_an_outage_when_connecting() -> None:
    async with simulated() as sims:
        source = opened(sims, "hubspot", token="a-token-nobody-knows")
        assert isinstance(await failure(source), TokenRejected)
        sims.fail("server_error", "hubspot", surface="mcp", operation="*", times=None)
        assert isinstance(await failure(source), ProviderUnavailable)
    assert isinstance(await failure(source), ProviderUnavailable), "nobody listens any more"


async def test_a_missing_tool_or_argument_is_named() -> None:
    async with simulated() as sims:
        source = opened(sims, "hubspot")
        sims.fail("missing_tool", "hubspot", tool=SEARCH)
        missing = await failure(source, BindingMismatch)
        assert "no tool search_crm_objects" in missing.message
        assert "hubspot-mcp@2026-04" in missing.message
        sims.faults.clear()
        sims.fail("missing_argument", "hubspot", tool=SEARCH, argument="filterGroups")
        assert "no argument filterGroups" in (await failure(source, BindingMismatch)).message
        assert sims.ledger.count("hubspot", "mcp", SEARCH) == 0, "nothing was guessed"


async def test_a_dropped_session_is_opened_again_and_the_pass_goes_on() -> None:
    async with simulated() as sims:
        sims.hubspot.eras = "legacy"
        sims.fail("drop_session", "hubspot", skip=1)
        found = await read_once(HUBSPOT, opened(sims, "hubspot"), "contacts")
        assert len(found.ids) == len(set(found.ids)) == 250
        assert sims.ledger.count("hubspot", "mcp", "initialize") == 2


@pytest.mark.parametrize("json_responses", [False, True])
async def test_a_result_of_ten_megabytes_prose_around_json_and_a_wrong_schema_are_read(
    json_responses: bool,
) -> None:
    async with simulated() as sims:
        sims.hubspot.eras, sims.hubspot.json_responses = "legacy", json_responses
        for kind in ("huge", "prose", "mismatch"):
            sims.fail(kind, "hubspot", skip=1)
            assert len((await read_once(HUBSPOT, opened(sims, "hubspot"), "contacts")).ids) == 250
            assert sims.faults.rules()[-1].hits == 1


async def test_a_call_without_an_answer_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (files(HUBSPOT.package) / "bindings/hubspot-mcp@2026-04.toml").read_text()
    quick = loading.parse_binding(text.replace("timeout = 60", "timeout = 0.2"), "hubspot-mcp@2026-04")
    monkeypatch.setattr(loading, "load_binding", lambda package, name: quick)
    async with simulated() as sims:
        sims.fail("hang", "hubspot")
        assert "in time" in (await failure(opened(sims, "hubspot"), ProviderUnavailable)).message


async def test_a_cancelled_read_closes_its_connection() -> None:
    async with simulated() as sims:
        hung = asyncio.Event()
        sims.fail("drift", "hubspot", skip=1, action=hung.set)
        sims.fail("hang", "hubspot", skip=1)
        reading = asyncio.create_task(read_once(HUBSPOT, opened(sims, "hubspot"), "contacts"))
        await asyncio.wait_for(hung.wait(), 10)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading


async def test_a_token_that_expires_in_the_middle_of_a_pass_is_rejected_there() -> None:
    async with simulated() as sims:
        token = token_for(sims, "hubspot")
        source = opened(sims, "hubspot", token=token)
        async with HUBSPOT.open(source) as reader:
            assert len((await read(reader, "contacts", pages=1)).ids) == 200
            sims.hubspot.oauth.grants.expire_access_tokens()
            with pytest.raises(TokenRejected):
                await read(reader, "contacts")
