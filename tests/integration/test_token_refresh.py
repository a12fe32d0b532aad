"""Tokens are refreshed on claim: once, by one of many, and no crash in between loses them or loops."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import Counter
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from penstock.db.tenancy import TenantPool
from penstock.errors import NotFound
from penstock.model import SourceId
from penstock.sources.errors import (
    ClientRejected,
    ProviderUnavailable,
    RefreshTokenInvalid,
    Throttled,
)
from penstock.sources.oauth.token_store import TokenStore
from penstock.vault.key_ring import KeyRing
from penstock.vault.rotation import Rotated, Rotation
from tests.integration.connecting_sources import Connections, connections
from tests.plugins.database import Database
from tests.plugins.forked import start
from tests.plugins.workers import ROOT

PROCESSES = 12
CHILD = "tests.integration.refreshing_process"


class Crashed(Exception):
    """The process dies here."""


async def test_a_token_is_refreshed_only_when_it_expires_within_the_skew(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path, token_refresh_skew_seconds=60) as here:
        source_id = await here.connect()
        first = await here.token(source_id)
        await here.expire(source_id, 90)
        assert await here.token(source_id) == first
        assert here.refreshes() == 0
        await here.expire(source_id, 30)
        second = await here.token(source_id)
        assert second != first
        assert await here.token(source_id) == second
        assert here.refreshes() == 1
        assert await here.generations(source_id, "access_token") == [(1, True), (2, False)]
        assert await here.generations(source_id, "refresh_token") == [(1, False)]


async def test_twelve_racing_on_one_stale_token_make_one_refresh_call(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        await here.expire(source_id)
        here.simulators.fail("slow", "hubspot", surface="token", seconds=0.5)
        settings = here.works.engine.settings
        variables = {
            **os.environ,
            **here.simulators.environment(),
            "PENSTOCK_DATABASE_URL": database.runtime_url,
            "PENSTOCK_DATA_DIR": str(settings.data_dir),
        }
        children = [
            start(
                (CHILD, str(here.works.tenant_id), str(source_id)), ROOT, variables,
                stdin=PIPE, stdout=PIPE, stderr=None,
            )
            for _ in range(PROCESSES)
        ]  # fmt: skip
        for child in children:
            assert child.stdout is not None
            assert await asyncio.to_thread(child.stdout.readline) == b"ready\n"
        ended = await asyncio.gather(*(asyncio.to_thread(child.communicate, b"go\n") for child in children))
        assert [child.returncode for child in children] == [0] * PROCESSES
        tokens = Counter(line for out, _ in ended for line in out.split())
        current = hashlib.sha256((await here.token(source_id)).encode()).hexdigest().encode()
        assert tokens == {current: PROCESSES}
        assert here.refreshes() == 1
        assert await here.generations(source_id, "refresh_token") == [(1, True), (2, False)]


async def test_a_crash_after_the_vault_was_written_costs_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connections(database, tmp_path) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        await here.expire(source_id)
        with monkeypatch.context() as dying:
            dying.setattr(TokenStore, "point", _crash)
            with pytest.raises(Crashed):
                await here.token(source_id)
        assert await here.generations(source_id, "refresh_token") == [(1, False), (2, False)]

        adopted = await here.token(source_id)
        assert here.refreshes() == 1
        assert here.simulators.hubspot.oauth.grants.check(f"Bearer {adopted}") not in ("unknown", "expired")
        assert await here.generations(source_id, "refresh_token") == [(1, True), (2, False)]
        await here.expire(source_id)
        await here.token(source_id)
        assert here.refreshes() == 2
        assert (await here.source(source_id))["status"] == "active"


async def test_a_crash_before_the_vault_was_written_ends_in_reconnect_needed_and_not_in_a_loop(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connections(database, tmp_path) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        await here.expire(source_id)
        with monkeypatch.context() as dying:
            dying.setattr(TokenStore, "put", _crash)
            with pytest.raises(Crashed):
                await here.token(source_id)
        assert here.refreshes() == 1
        results = await asyncio.gather(*(here.token(source_id) for _ in range(6)), return_exceptions=True)
        assert {type(result) for result in results} == {RefreshTokenInvalid}
        assert here.refreshes() == 2, "one finds out, the others believe it"
        source = await here.source(source_id)
        assert (source["status"], source["status_message"]) == (
            "error", "refresh_token_invalid: invalid_grant",
        )  # fmt: skip

        assert await here.connect() == source_id
        assert (await here.source(source_id))["status"] == "active"
        await here.expire(source_id)
        await here.token(source_id)


async def test_a_provider_that_does_not_rotate_keeps_its_refresh_token(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("google_drive")
        for _ in range(3):
            await here.expire(source_id)
            await here.token(source_id)
        assert here.refreshes("google_drive") == 3
        assert await here.generations(source_id, "refresh_token") == [(1, False)]
        assert [orphaned for _, orphaned in await here.generations(source_id, "access_token")] == [
            True, True, True, False,
        ]  # fmt: skip


async def test_a_token_without_a_lifetime_is_used_for_half_an_hour(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.expire(source_id)
        here.simulators.hubspot.oauth.grants.access_seconds = 0
        await here.token(source_id)
        assert await here.works.value(
            "select token_expires_at - now() between interval '29 minutes' and interval '30 minutes'"
            " from ingest.source where source_id = $1",
            source_id,
        )


async def test_a_revoked_grant_stops_the_source_with_the_providers_code_only(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("quickbooks")
        here.simulators.quickbooks.oauth.grants.revoke_all()
        await here.expire(source_id)
        for _ in range(2):
            with pytest.raises(RefreshTokenInvalid, match="invalid_grant"):
                await here.token(source_id)
        assert here.refreshes("quickbooks") == 1
        source = await here.source(source_id)
        assert (source["status"], source["status_message"]) == (
            "error", "refresh_token_invalid: invalid_grant",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "server_error", "status": 503}, ProviderUnavailable),
        ({"kind": "disconnect"}, ProviderUnavailable),
        ({"kind": "not_json"}, ProviderUnavailable),
        ({"kind": "rate_limited", "retry_after": "7"}, Throttled),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else value.__name__,
)
async def test_a_provider_that_is_down_leaves_the_source_active(
    database: Database, tmp_path: Path, fault: dict[str, Any], error: type[Exception]
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.expire(source_id)
        here.simulators.fail(provider="hubspot", surface="token", **fault)
        with pytest.raises(error) as raised:
            await here.token(source_id)
        if isinstance(raised.value, Throttled):
            assert raised.value.retry_after == 7
        assert (await here.source(source_id))["status"] == "active"
        await here.token(source_id)
        assert here.refreshes() == 2


@pytest.mark.parametrize(
    ("status", "code"), [(400, "temporarily_unavailable"), (400, "server_error"), (403, "Forbidden")]
)
async def test_an_error_that_says_nothing_about_the_grant_leaves_the_source_active(
    database: Database, tmp_path: Path, status: int, code: str
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("gmail")
        await here.expire(source_id)
        here.simulators.fail("oauth_error", "gmail", surface="token", status=status, message=code)
        with pytest.raises(ProviderUnavailable):
            await here.token(source_id)
        assert (await here.source(source_id))["status"] == "active"
        await here.token(source_id)


async def test_a_401_without_a_code_needs_the_user(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect("gmail")
        await here.expire(source_id)
        here.simulators.fail("oauth_error", "gmail", surface="token", status=401, message="")
        with pytest.raises(RefreshTokenInvalid):
            await here.token(source_id)
        source = await here.source(source_id)
        assert (source["status"], source["status_message"]) == ("error", "refresh_token_invalid: http_401")


async def test_a_token_is_refreshed_while_the_vault_is_rotated(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        operators = await TenantPool.open(database.operator_url, application_name="operator", size=2)
        ring = KeyRing.from_settings(here.works.engine.settings, database.operator_url)
        rotated: list[Rotated] = []
        old = await ring.vault()

        async def rotate() -> None:
            rotated.append(await Rotation(ring, operators, batch=1).rotate())

        # While the provider is asked, every secret gets another master key.
        rotating: list[asyncio.Task[None]] = []
        here.simulators.fail(
            "drift", "hubspot", surface="token",
            action=lambda: rotating.append(asyncio.create_task(rotate())),
        )  # fmt: skip
        try:
            await here.expire(source_id)
            token = await here.token(source_id)
            await rotating[0]
        finally:
            await operators.close()
        assert rotated[0].key_id != old.key_id
        assert await here.token(source_id) == token
        await here.expire(source_id)
        assert await here.token(source_id) != token
        assert here.refreshes() == 2
        keys = await here.works.value("select array_agg(distinct key_id) from vault.secret")
        assert rotated[0].key_id in keys
        status = await here.source(source_id)
        assert status["status"] == "active"


async def test_a_rejected_client_is_our_fault_and_names_the_settings(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.expire(source_id)
        here.simulators.hubspot.oauth.client_secret = "changed at the provider"
        with pytest.raises(ClientRejected, match="PENSTOCK_HUBSPOT_CLIENT_SECRET"):
            await here.token(source_id)
        assert (await here.source(source_id))["status"] == "active"


async def test_a_token_rejected_in_mid_stream_is_refreshed_next_unless_it_was_replaced(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        tokens, tenant_id = here.works.engine.tokens, here.works.tenant_id
        old = await here.token(source_id)
        await tokens.reject(tenant_id, source_id, old)
        assert (await here.source(source_id))["token_expires_at"] is None
        new = await here.token(source_id)
        assert new != old
        await tokens.reject(tenant_id, source_id, old)
        assert await here.token(source_id) == new
        assert here.refreshes() == 1


async def test_a_cancelled_caller_does_not_lose_tokens_that_are_on_their_way(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        await here.expire(source_id)
        reached = asyncio.Event()
        here.simulators.fail("drift", "hubspot", surface="token", action=reached.set)
        asking = asyncio.create_task(here.token(source_id))
        await reached.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await here.token(source_id)
        assert here.refreshes() == 1


async def test_another_tenant_gets_no_token(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        other = await here.works.value("select internal.uuid7()")
        with pytest.raises(NotFound):
            await here.works.engine.tokens.access_token(other, source_id)


async def test_no_token_is_in_a_log_an_error_or_a_table(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.expire(source_id)
        await here.token(source_id)
        said = []
        for fault in ("server_error", "disconnect", "not_json"):
            await here.expire(source_id)
            here.simulators.fail(fault, "hubspot", surface="token")
            said.append(await _error(here, source_id))
        here.simulators.hubspot.oauth.grants.revoke_all()
        said.append(await _error(here, source_id))
        dump = await here.works.value(
            "select string_agg(x, e'\\n') from (select s::text from ingest.source s"
            " union all select a::text from ingest.connect_attempt a"
            " union all select t::text from queues.task t) as all_rows (x)"
        )
        everything = "\n".join([*said, caplog.text, dump])
        assert "source_connected" in everything
        assert [secret for secret in here.secrets_of("hubspot") if secret in everything] == []


async def _error(here: Connections, source_id: SourceId) -> str:
    """What a traceback would show of an error, with its causes and what they hold."""
    try:
        await here.token(source_id)
    except Exception as error:  # noqa: BLE001 - each of them is looked at
        chain: list[str] = []
        current: BaseException | None = error
        while current is not None:
            chain.append(f"{current!r} {current} {vars(current)}")
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        return "\n".join(chain)
    raise AssertionError("there was no error")


async def _crash(*_: object, **__: object) -> None:
    raise Crashed
