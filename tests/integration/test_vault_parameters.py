"""Refresh tokens in AWS's Parameter Store: neither side alone reveals one, and none is left behind."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.aws import AwsClient, AwsRefused
from penstock.errors import Conflict, NotFound
from penstock.model import SourceId, TenantId, uuid7
from penstock.settings import Settings
from penstock.vault import ACCESS_TOKEN, REFRESH_TOKEN, KeyRing, Secrets
from penstock.vault.maintenance import VaultMaintenance
from penstock.vault.parameters import ParameterStore
from penstock.vault.rotation import Rotation
from tests.integration.connecting_sources import connections
from tests.integration.deleting import ended
from tests.integration.vaulted import Vaulted, vaulted
from tests.plugins.aws import Aws
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.clock import Clock

TOKEN = b"canary-refresh-token"


@dataclass(frozen=True, slots=True)
class Stored:
    here: Vaulted
    aws: Aws
    source_id: SourceId
    clock: Clock
    parameters: ParameterStore
    secrets: Secrets

    async def store(self, generation: int = 1, purpose: str = REFRESH_TOKEN) -> UUID:
        return await self.secrets.store_generation(
            self.here.runtime, self.here.tenant_id, self.source_id, purpose, generation, TOKEN
        )

    async def drop(self, secret_id: UUID) -> None:
        async with self.here.runtime.transaction(self.here.tenant_id) as conn:
            assert await self.secrets.drop(conn, secret_id)

    async def maintain(self) -> None:
        await VaultMaintenance(self.here.runtime, self.parameters, orphaned_days=7).run_once()

    def held(self) -> list[str]:
        """The values in the store."""
        found = self.aws.client("ssm").get_parameters_by_path(Path="/", Recursive=True)["Parameters"]
        return [parameter["Value"] for parameter in found]


async def source_of(database: Database, secrets: Secrets, tenant_id: TenantId, here: Any) -> SourceId:
    async with here.transaction(tenant_id) as conn:
        secret_id = await secrets.put(conn, tenant_id, "webhook", b"w")
        source_id = await conn.fetchval(
            "select (ingest.put_webhook_source($1, $2) ->> 'source_id')::uuid", secret_id, secret_id
        )
    return SourceId(source_id)


@asynccontextmanager
async def stored(database: Database, folder: Path, aws: Aws) -> AsyncIterator[Stored]:
    chosen = Settings(_env_file=None, data_dir=folder, **aws.settings)
    async with vaulted(database, chosen) as here, database.connect("admin") as admin:
        clock = await Clock.install(admin)
        source_id = await source_of(database, here.process(), here.tenant_id, here.runtime)
        parameters = ParameterStore(chosen, database.runtime_url)
        ring = KeyRing.from_settings(chosen, database.runtime_url)
        secrets = Secrets(ring, parameters, refresh_tokens_in_parameters=True)
        yield Stored(here, aws, source_id, clock, parameters, secrets)


def refuse(monkeypatch: pytest.MonkeyPatch, *operations: str) -> None:
    """AWS denies these operations from now on."""
    real = AwsClient.call

    async def call(self: AwsClient, operation: str, **parameters: object) -> dict[str, Any]:
        if operation in operations:
            raise AwsRefused("ssm", operation, "AccessDeniedException")
        return await real(self, operation, **parameters)

    monkeypatch.setattr(AwsClient, "call", call)


async def test_only_refresh_tokens_are_there_and_neither_side_reveals_one(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        secret_id = await shelf.store()
        await shelf.store(purpose=ACCESS_TOKEN)
        async with shelf.here.runtime.transaction(shelf.here.tenant_id) as conn:
            assert await shelf.secrets.get(conn, shelf.here.tenant_id, secret_id) == TOKEN
        rows = {row["purpose"]: row for row in await shelf.here.rows()}
        assert rows[REFRESH_TOKEN]["ciphertext"] is None
        name = f"/penstock/{shelf.here.tenant_id}/{shelf.source_id}/refresh_token/{secret_id}"
        assert rows[REFRESH_TOKEN]["parameter_name"] == name
        assert rows[ACCESS_TOKEN]["ciphertext"] is not None
        parameter = aws.client("ssm").get_parameter(Name=name, WithDecryption=True)["Parameter"]
        assert parameter["Type"] == "SecureString"
        assert TOKEN not in base64.b64decode(parameter["Value"])


async def test_a_rotation_leaves_parameters_as_they_are(database: Database, tmp_path: Path, aws: Aws) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        secret_id, before = await shelf.store(), shelf.held()
        ring = KeyRing.from_settings(shelf.here.settings, database.operator_url)
        await Rotation(ring, shelf.here.operator).rotate()
        assert shelf.held() == before
        async with shelf.here.runtime.transaction(shelf.here.tenant_id) as conn:
            assert await shelf.secrets.get(conn, shelf.here.tenant_id, secret_id) == TOKEN


async def test_a_dropped_or_orphaned_secret_loses_its_parameter_and_a_failed_deletion_is_repeated(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        dropped, orphaned = await shelf.store(1), await shelf.store(2)
        await shelf.store(3)
        await shelf.drop(dropped)
        async with shelf.here.runtime.transaction(shelf.here.tenant_id) as conn:
            await shelf.secrets.orphan(conn, orphaned)
        with monkeypatch.context() as patch:
            refuse(patch, "delete_parameters")
            await shelf.maintain()
        assert len(shelf.held()) == 3
        async with shelf.here.operator.all_tenants() as conn:
            health = await conn.fetchrow("select * from all_tenants.parameter_health()")
        assert tuple(health or ()) == (2, 1, 1, "AccessDeniedException")
        await shelf.maintain()
        assert len(shelf.held()) == 3  # not due again yet
        await shelf.clock.advance(seconds=11)
        await shelf.maintain()
        assert len(shelf.held()) == 2
        await shelf.clock.advance(minutes=61)
        await shelf.maintain()
        assert len(shelf.held()) == 1


async def test_a_parameter_whose_secret_never_came_is_deleted_by_the_database_that_planned_it(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        await shelf.store(1)
        with pytest.raises(Conflict):
            await shelf.store(1)  # its parameter was written before the refusal
        assert len(shelf.held()) == 2
        await shelf.clock.advance(minutes=61)
        await shelf.here.execute("update vault.parameter set origin = 'another ' || origin")
        await shelf.maintain()
        assert len(shelf.held()) == 2  # a restored copy must not delete what the original needs
        await shelf.here.execute("update vault.parameter set origin = substr(origin, 9)")
        await shelf.maintain()
        assert len(shelf.held()) == 1


async def test_no_tenant_plans_a_parameter_of_anothers_source(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        async with shelf.here.operator.all_tenants() as conn:
            other = TenantId(uuid7())
            await conn.execute(
                "select all_tenants.create_tenant($1, $2, 'other', 'other', 'wordllama')", other, uuid7()
            )
        with pytest.raises(NotFound, match=str(shelf.source_id)):
            await shelf.parameters.plan(other, shelf.source_id, REFRESH_TOKEN)
        secret_id, name = await shelf.parameters.plan(other, SourceId(uuid7()), REFRESH_TOKEN)
        assert name.startswith(f"/penstock/{other}/")
        assert name.endswith(f"/{secret_id}")


async def test_a_failed_write_stores_nothing_and_a_lost_parameter_says_what_to_do(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        with monkeypatch.context() as patch:
            refuse(patch, "put_parameter")
            with pytest.raises(AwsRefused, match="ssm did not put parameter: AccessDenied") as refused:
                await shelf.store()
        assert TOKEN.decode() not in repr(refused.value)
        assert [row["purpose"] for row in await shelf.here.rows()] == ["webhook"]
        secret_id = await shelf.store()
        (row,) = [row for row in await shelf.here.rows() if row["parameter_name"]]
        aws.client("ssm").delete_parameter(Name=row["parameter_name"])
        async with shelf.here.runtime.transaction(shelf.here.tenant_id) as conn:
            with pytest.raises(NotFound, match="is gone"):
                await shelf.secrets.get(conn, shelf.here.tenant_id, secret_id)


async def test_a_rotated_token_that_the_store_refuses_is_kept_in_the_database(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connections(database, tmp_path, secret_store="ssm", **aws.settings) as here:
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        with monkeypatch.context() as denied:
            refuse(denied, "put_parameter")
            await here.expire(source_id)
            await here.token(source_id)
        where = "select array_agg(parameter_name is null order by generation) from vault.secret"
        where += " where purpose = 'refresh_token'"
        assert await here.works.value(where) == [False, True]
        for _ in range(2):
            await here.expire(source_id)
            await here.token(source_id)
        assert (await here.source(source_id))["status"] == "active"
        assert await here.works.value(where) == [False, True, False, False]


async def test_a_token_that_is_being_revoked_keeps_its_parameter(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with stored(database, tmp_path, aws) as shelf:
        secret_id = await shelf.store()
        await shelf.here.execute(
            "insert into ingest.revocation (source_id, tenant_id, task_id, requested_at)"
            " values ($1, $2, 1, internal.clock())",
            shelf.source_id,
            shelf.here.tenant_id,
        )
        async with shelf.here.runtime.transaction(shelf.here.tenant_id) as conn:
            await shelf.secrets.orphan(conn, secret_id)
        await shelf.clock.advance(minutes=61)
        await shelf.maintain()
        assert len(shelf.held()) == 1
        await shelf.here.execute("update ingest.revocation set ended_at = now(), outcome = 'revoked'")
        await shelf.maintain()
        assert shelf.held() == []


async def test_the_deletion_of_a_tenant_waits_for_its_parameters_and_counts_them(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {"secret_store": "ssm", "poll_interval": 0.2, **aws.settings}
    async with connections(database, tmp_path, **chosen) as here:
        works, engine, tenant_id = here.works, here.works.engine, here.works.tenant_id
        here.simulators.hubspot.oauth.grants.rotation = "each_use"
        source_id = await here.connect()
        await here.expire(source_id)
        await here.token(source_id)
        assert await here.generations(source_id, REFRESH_TOKEN) == [(1, True), (2, False)]
        await engine.deletions.request(tenant_id)
        async with works.working():
            with monkeypatch.context() as patch:
                refuse(patch, "delete_parameters")
                doomed = "select count(*) = 2 from vault.parameter where doomed_at is not null"
                await eventually(lambda: works.value(doomed), within=60, what="the parameters are doomed")
                await engine.vault_maintenance.run_once()
                failed = "select count(*) = 2 from vault.parameter where error_code is not null"
                assert await works.value(failed)
            deletion = await engine.deletions.show(tenant_id)
            assert (deletion.status, deletion.parameters_left) == ("running", 2)
            await works.value("update vault.parameter set next_attempt_at = now() returning 1")
            await engine.vault_maintenance.run_once()
            deletion = await ended(works)
        assert (deletion.status, deletion.parameters_left) == ("succeeded", 0)
        assert deletion.receipt is not None
        assert deletion.receipt["removed"]["parameter"] == 2
        found = aws.client("ssm").get_parameters_by_path(Path="/", Recursive=True)["Parameters"]
        assert found == []
        assert await works.value("select count(*) from vault.parameter") == 0


async def test_doctor_and_backup_know_about_parameters(
    database: Database, tmp_path: Path, aws: Aws, penstock: CommandLine
) -> None:
    variables = {f"PENSTOCK_{name.upper()}": value for name, value in aws.settings.items()}
    keys = {"AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "simulated"}
    command = penstock.with_variables(PENSTOCK_DATA_DIR=str(tmp_path / "data"), **keys, **variables)
    async with stored(database, tmp_path / "data", aws) as shelf:
        await shelf.store()
    checks = {check["check"]: check for check in command("doctor", "--json").json["checks"]}
    assert checks["parameters"]["status"] == "ok"
    assert "1 secret in the Parameter Store" in checks["parameters"]["message"]
    unreachable = command.with_variables(PENSTOCK_SSM_ENDPOINT="http://127.0.0.1:9")
    checks = {check["check"]: check for check in unreachable("doctor", "--json").json["checks"]}
    assert checks["parameters"]["status"] == "fail"
    made = command("backup", "copy")
    assert "Not in the backup: 1 refresh token in the AWS Parameter Store" in made.err
