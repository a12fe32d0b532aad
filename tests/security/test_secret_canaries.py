"""No secret and no key is in a dump, a log, a payload, SQL text, an error or a traceback."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
import subprocess
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import penstock.sources.webhook.webhook_source as webhook_source
from penstock.aws import AwsClient
from penstock.db.addresses import Addresses
from penstock.db.programs import find_program, for_libpq
from penstock.model import SourceId
from penstock.observe import configure, get_logger
from penstock.vault import ACCESS_TOKEN, REFRESH_TOKEN, Secrets, Vault, generate_key, read_keys
from tests.integration.connecting_sources import connections
from tests.integration.deleting import hurried, replaced
from tests.plugins.aws import Aws
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.scripted_source import hurry, settled
from tests.plugins.workers import eventually
from tests.security.canary import Canary, columns_with, files_with

LOGGING = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_error_verbosity": "verbose",
}
ECHO = """begin raise exception '% % % %', _name, _ciphertext, _wrapped_key, _key_id
  using detail = encode(_ciphertext, 'escape'); end"""
WAITING = "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@asynccontextmanager
async def told(database: Database) -> AsyncIterator[Callable[[], str]]:
    """The server writes every statement of this database with its parameters to its log."""
    log = database.server.data_dir / "pgdata" / "server.log"
    start = log.stat().st_size
    async with database.connect("admin") as admin:
        for name, value in LOGGING.items():
            await admin.execute(f"alter database {database.name} set {name} = '{value}'")
    yield lambda: log.read_bytes()[start:].decode(errors="replace")


def secret_of(canary: Canary, field: str) -> str:
    """A webhook's secret whose bytes hold the canary."""
    return "whsec_" + base64.b64encode(canary.mark_bytes(field)).decode()


async def failing(call: Awaitable[object]) -> str:
    """What is known of a failure: its traceback, with causes, as text, and its parts; also logged."""
    try:
        await call
    except Exception as error:  # noqa: BLE001  # whatever it is, it must not tell
        get_logger("test").error("call_failed", error=error, args=str(error.args))
        parts = [repr(error), str(error), repr(error.args), repr(vars(error))]
        return "\n".join([*parts, *traceback.format_exception(error)])
    pytest.fail("this call should have failed")


async def dump_of(database: Database) -> str:
    url, environment = for_libpq(database.admin_url)
    addresses = Addresses(url, url, url, url, database.server)
    program = find_program("pg_dump", addresses)
    made = subprocess.run([program, f"--dbname={url}"], env=environment, capture_output=True, check=True)
    return made.stdout.decode()


async def plant(works: Works, canary: Canary, monkeypatch: pytest.MonkeyPatch) -> tuple[SourceId, UUID]:
    """Store a secret by every way there is."""
    engine, tenant_id = works.engine, works.tenant_id
    monkeypatch.setattr(webhook_source, "generate_secret", lambda: secret_of(canary, "incoming"))
    created = await engine.webhooks.rotate(tenant_id)
    assert canary.is_in(created.secret)
    url = "http://127.0.0.1:9/closed"
    await engine.completion_webhooks.put(tenant_id, url, secret_of(canary, "outgoing"))
    ids = {}
    for purpose in (ACCESS_TOKEN, REFRESH_TOKEN):
        token = canary.mark(purpose).encode()
        ids[purpose] = await engine.secrets.store_generation(
            engine.tenants, tenant_id, created.source_id, purpose, 1, token
        )
    async with engine.tenants.transaction(tenant_id) as conn:
        for secret_id in ids.values():
            assert canary.is_in((await engine.secrets.get(conn, tenant_id, secret_id)).decode())
    return created.source_id, ids[ACCESS_TOKEN]


async def shown_while_stored(works: Works, canary: Canary, source_id: SourceId) -> str:
    """What other sessions see of the statement that stores a secret, while it waits for a lock."""
    engine = works.engine
    async with works.database.connect("admin") as admin:
        async with admin.transaction():
            await admin.execute("lock table internal.vault_key in access exclusive mode")
            token = canary.mark("waiting").encode()
            storing = asyncio.ensure_future(
                engine.secrets.store_generation(
                    engine.tenants, works.tenant_id, source_id, ACCESS_TOKEN, 9, token
                )
            )
            await eventually(lambda: works.value(WAITING), what="the statement waits")
            shown = str(await works.value(WAITING))
        await storing
    return shown


async def provoke(works: Works, canary: Canary, source_id: SourceId, secret_id: UUID) -> list[str]:
    """Make every step fail that has a secret in its hands."""
    engine, tenant_id = works.engine, works.tenant_id
    token = canary.mark("failing").encode()

    def store(purpose: str, generation: int) -> Awaitable[UUID]:
        return engine.secrets.store_generation(
            engine.tenants, tenant_id, source_id, purpose, generation, token
        )

    async def read(secrets: Secrets) -> None:
        async with engine.tenants.transaction(tenant_id) as conn:
            await secrets.get(conn, tenant_id, secret_id)

    found = [await failing(store(ACCESS_TOKEN, 1)), await failing(store("No Purpose", 2))]
    async with replaced(works.database, "vault.put_secret", ECHO):
        found.append(await failing(store(ACCESS_TOKEN, 3)))
    other = Secrets(Vault(read_keys(generate_key(), "the test")))
    found.append(await failing(read(other)))
    await works.value("update vault.secret set nonce = 'x' where secret_id = $1 returning 1", secret_id)
    found.append(await failing(read(engine.secrets)))
    wrong = AwsClient(engine.settings, "ssm", engine.settings.ssm_endpoint, "PENSTOCK_SECRET_STORE")
    found.append(await failing(wrong.call("put_parameter", Name=5, Value=[canary.mark("parameter")])))
    found.append(await failing(wrong.call("put_parameter", Name="/x", Value=canary.mark("p"), Type="None")))
    found.append(await failing(engine.completion_webhooks.put(tenant_id, "http://x", canary.mark("no"))))
    # A delivery that nobody receives: its task fails, and the queue keeps the error.
    async with works.working():
        await works.index("The sluice was opened.")
        failed = "select count(*) > 0 from queues.error"
        await eventually(lambda: works.value(failed), what="the delivery failed")
    return found


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Everything logged at debug level, as an installation logs it."""
    root, stream = logging.getLogger(), io.StringIO()
    before, level = list(root.handlers), root.level
    configure("debug", "json", stream=stream)
    try:
        yield stream
    finally:
        for handler in [known for known in root.handlers if known not in before]:
            root.removeHandler(handler)
        root.setLevel(level)


async def test_no_secret_or_key_is_in_a_dump_a_log_a_payload_sql_text_or_a_traceback(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary, control = Canary(), Canary()
    settings: dict[str, Any] = {
        "vault_key": base64.b64encode(canary.mark_bytes("masterkey")).decode(),
        "secret_store": "ssm",
        **aws.settings,
    }
    with logged() as ours:
        async with told(database) as server_log:
            async with hurried(database, tmp_path, **settings) as works:
                source_id, secret_id = await plant(works, canary, monkeypatch)
                errors = await provoke(works, canary, source_id, secret_id)
                shown = await shown_while_stored(works, canary, source_id)
            async with database.connect("admin") as admin:
                await admin.execute(f"select '{control.mark('statement')}'")
                assert await columns_with(admin, canary) == set()
            written = server_log()
    assert [text for text in errors if canary.is_in(text)] == []
    assert not canary.is_in(await dump_of(database))
    assert control.is_in(written), "the server logs every statement"
    assert "vault.put_secret($1" in written
    assert not canary.is_in(written)
    assert "vault.put_secret($1" in shown
    assert not canary.is_in(shown)
    assert "call_failed" in ours.getvalue()
    assert [line for line in ours.getvalue().splitlines() if canary.is_in(line)] == []
    assert files_with(tmp_path, canary) == set()
    held = aws.client("ssm").get_parameters_by_path(Path="/", Recursive=True, WithDecryption=True)
    assert len(held["Parameters"]) == 1
    assert not canary.is_in(repr(held))


async def test_no_token_of_a_provider_is_in_a_dump_a_log_sql_text_or_a_traceback(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    """Connecting, refreshing with rotation, failing syncs, a rejected grant, a state that is used twice."""
    errors = []
    with logged() as ours:
        async with (
            told(database) as server_log,
            connections(database, tmp_path, secret_store="ssm", **aws.settings) as here,
        ):
            here.simulators.hubspot.oauth.grants.rotation = "each_use"
            connecting = here.works.engine.connecting
            asked = await connecting.begin(here.works.tenant_id, "hubspot")
            brought = await here.consent(asked.url)
            source_id = (await connecting.finish(brought)).source_id
            errors.append(await failing(connecting.finish(brought)))
            await here.expire(source_id)
            await here.token(source_id)
            await here.expire(source_id)
            here.simulators.fail("server_error", "hubspot", surface="token")
            errors.append(await failing(here.token(source_id)))
            for fault in ("unauthorized", "server_error", "disconnect", "not_json", "tool_error"):
                here.simulators.fail(fault, "hubspot")
            async with here.works.working():
                hurrying = asyncio.create_task(hurry(here.works, source_id))
                job = await settled(here.works, source_id)
                hurrying.cancel()
            assert (job["status"], job["items_failed"]) == ("completed", 4), job
            issued = here.secrets_of("hubspot")
            await here.expire(source_id)
            here.simulators.hubspot.oauth.grants.refresh.clear()
            errors.append(await failing(here.token(source_id)))
            written = server_log()
        canaries = [Canary(token) for token in {*issued, *here.secrets_of("hubspot")}]
    assert len(canaries) >= 3
    dump = await dump_of(database)
    held = aws.client("ssm").get_parameters_by_path(Path="/", Recursive=True, WithDecryption=True)
    assert held["Parameters"]
    assert Canary(str(source_id)).is_in(dump)
    assert Canary(str(source_id)).is_in(written)
    for canary in canaries:
        assert not any(canary.is_in(text) for text in (dump, written, repr(held), *errors))
        assert [line for line in ours.getvalue().splitlines() if canary.is_in(line)] == []
        assert files_with(tmp_path, canary) == set()
