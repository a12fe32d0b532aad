"""Master keys under AWS KMS: one call per process, keys found without a restart, nothing said in logs."""

from __future__ import annotations

import asyncio
import base64
import builtins
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.aws import AwsClient, AwsRefused
from penstock.errors import SettingInvalid
from penstock.settings import Settings
from penstock.vault import VaultKeyInvalid
from tests.integration.vaulted import Vaulted, vaulted
from tests.plugins.aws import Aws
from tests.plugins.database import Database
from tests.plugins.documents import works_on


def settings(folder: Path, aws: Aws, **values: Any) -> Settings:
    return Settings(
        _env_file=None, data_dir=folder, **{"vault_kms_key_id": aws.kms_key_id} | aws.settings | values
    )


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The operations called at AWS within the block."""
    calls: list[str] = []
    real = AwsClient.call

    async def call(self: AwsClient, operation: str, **parameters: object) -> dict[str, Any]:
        calls.append(operation)
        return await real(self, operation, **parameters)

    with monkeypatch.context() as patch:
        patch.setattr(AwsClient, "call", call)
        yield calls


async def keys_in_database(here: Vaulted) -> list[Any]:
    async with here.database.connect("admin") as admin:
        return await admin.fetch("select * from internal.vault_key order by position")


async def test_a_process_calls_kms_once_however_many_secrets_it_reads(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with vaulted(database, settings(tmp_path, aws)) as here:
        with counted(monkeypatch) as calls:
            first = here.process()
            stored = [await here.put(first, b"canary-kms") for _ in range(10)]
            assert calls == ["generate_data_key", "decrypt"]
        with counted(monkeypatch) as calls:
            second = here.process()
            for secret_id in stored:
                assert await here.get(second, secret_id) == b"canary-kms"
            assert calls == ["decrypt"]
        assert not (tmp_path / "vault.key").exists()


async def test_processes_that_start_at_once_agree_on_one_key(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with vaulted(database, settings(tmp_path, aws)) as here:
        vaults = await asyncio.gather(*(here.process().keys.vault() for _ in range(3)))
        assert len({vault.key_id for vault in vaults}) == 1
        assert len(await keys_in_database(here)) == 1


async def test_the_database_has_the_key_only_as_kms_wrapped_it(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with vaulted(database, settings(tmp_path, aws)) as here:
        await here.put(here.process(), b"canary-kms")
        (row,) = await keys_in_database(here)
        opened = aws.client("kms").decrypt(
            CiphertextBlob=row["wrapped_key"], EncryptionContext={"penstock": "vault master key"}
        )
        assert opened["Plaintext"] not in row["wrapped_key"]
        assert row["kms_key_id"] == aws.kms_key_id


async def test_a_rotation_adds_a_key_that_running_processes_learn_of(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    async with vaulted(database, settings(tmp_path, aws)) as here:
        reader, writer = here.process(), here.process()
        secret_id = await here.put(writer, b"before")
        assert await here.get(reader, secret_id) == b"before"
        rotated = await here.rotation().rotate()
        assert (rotated.new_key, rotated.rewrapped) == (True, 1)
        assert await here.get(reader, secret_id) == b"before"
        await here.put(writer, b"after")  # it still had the old key as its first
        assert {row["key_id"] for row in await here.rows()} == {rotated.key_id}
        assert await here.rotation().forget(rotated.removable[0])
        assert [row["wrapped_key"] is None for row in await keys_in_database(here)] == [True, False]
        assert await here.get(here.process(), secret_id) == b"before"


async def test_an_installation_moves_from_a_file_to_kms(database: Database, tmp_path: Path, aws: Aws) -> None:
    plain = Settings(_env_file=None, data_dir=tmp_path)
    async with vaulted(database, plain) as before:
        secret_id = await before.put(before.process(), b"moved")
        moving = settings(tmp_path, aws, vault_key_file=tmp_path / "vault.key")
        here = Vaulted(database, moving, before.runtime, before.operator, before.tenant_id)
        assert await here.get(here.process(), secret_id) == b"moved"
        rotated = await here.rotation().rotate()
        assert (rotated.new_key, rotated.rewrapped) == (False, 1)
        after = Vaulted(database, settings(tmp_path, aws), before.runtime, before.operator, before.tenant_id)
        assert await after.get(after.process(), secret_id) == b"moved"


@pytest.mark.parametrize("change", ["unwrapped by another", "moved"])
async def test_only_the_configured_kms_keys_unwrap(
    database: Database, tmp_path: Path, aws: Aws, change: str
) -> None:
    async with vaulted(database, settings(tmp_path, aws)) as here:
        await here.process().keys.vault()
        if change == "moved":
            await here.execute("update internal.vault_key set key_id = 'another'")
        else:
            await here.execute("update internal.vault_key set kms_key_id = 'arn:aws:kms:attacker'")
        with pytest.raises(VaultKeyInvalid, match=r"attacker|another"):
            await here.process().keys.vault()


async def test_a_refusal_names_the_call_and_the_code_only(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    wrong = settings(tmp_path, aws, vault_kms_key_id="00000000-0000-0000-0000-000000000000")
    async with vaulted(database, wrong) as here:
        with pytest.raises(
            AwsRefused, match="AWS kms did not generate data key: NotFoundException"
        ) as refused:
            await here.process().keys.vault()
        assert "kms:GenerateDataKey" in str(refused.value.remedy)
        assert refused.value.__cause__ is None


async def test_an_engine_does_not_start_without_kms_and_says_why(
    database: Database, tmp_path: Path, aws: Aws
) -> None:
    chosen: dict[str, Any] = {**aws.settings, "vault_kms_key_id": aws.kms_key_id}
    unreachable = {**chosen, "kms_endpoint": "http://127.0.0.1:9"}
    with pytest.raises(AwsRefused, match="AWS kms did not generate data key: EndpointConnectionError"):
        async with works_on(database, tmp_path, **unreachable):
            pass
    async with works_on(database, tmp_path, **chosen) as works:
        await works.engine.webhooks.rotate(works.tenant_id)


async def test_without_boto3_the_error_names_the_extra(
    database: Database, tmp_path: Path, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def no_boto3(name: str, *args: Any, **named: Any) -> Any:
        if name.split(".")[0] in ("boto3", "botocore"):
            raise ImportError(name)
        return real(name, *args, **named)

    async with vaulted(database, settings(tmp_path, aws)) as here:
        monkeypatch.setattr(builtins, "__import__", no_boto3)
        with pytest.raises(SettingInvalid, match=r"pip install 'penstock\[aws\]'"):
            await here.process().keys.vault()


async def test_debug_logs_of_the_aws_client_show_no_key(
    database: Database, tmp_path: Path, aws: Aws, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with vaulted(database, settings(tmp_path, aws)) as here:
        await here.put(here.process(), b"canary-kms")
        (row,) = await keys_in_database(here)
    opened = aws.client("kms").decrypt(
        CiphertextBlob=row["wrapped_key"], EncryptionContext={"penstock": "vault master key"}
    )
    key = opened["Plaintext"]
    said = "\n".join(f"{record.name} {record.getMessage()}" for record in caplog.records)
    for shown in (base64.b64encode(key).decode(), key.hex(), repr(key)[2:-1]):
        assert shown not in said
