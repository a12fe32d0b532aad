"""Checks that the vault's keys and the Parameter Store can be used, and that no secret needs another key."""

from __future__ import annotations

from penstock.cli import output
from penstock.cli.doctor.checks import Check
from penstock.db import Connection
from penstock.errors import PenstockError
from penstock.settings import Settings
from penstock.vault.key_ring import KeyRing
from penstock.vault.parameters import ParameterStore


async def check_vault(connection: Connection, url: str, settings: Settings) -> list[Check]:
    """The keys, and the Parameter Store if secrets are or will be there."""
    return [await _keys(connection, url, settings), *await _parameters(connection, url, settings)]


async def _parameters(connection: Connection, url: str, settings: Settings) -> list[Check]:
    found = await connection.fetchrow("select * from all_tenants.parameter_health()")
    assert found is not None
    wanted = settings.secret_store == "ssm"  # noqa: S105  # a setting, not a secret
    if not (wanted or found["secrets"] or found["waiting"]):
        return []
    try:
        await ParameterStore(settings, url).probe()
    except PenstockError as error:
        return [Check("parameters", "fail", error.message, error.remedy)]
    if found["failing"]:
        failing = output.count(found["failing"], "parameter")
        remedy = "Allow ssm:DeleteParameters under PENSTOCK_SSM_PREFIX; they are tried again by themselves"
        return [Check("parameters", "warn", f"{failing} could not be deleted: {found['error_code']}", remedy)]
    return [Check("parameters", "ok", f"{output.count(found['secrets'], 'secret')} in the Parameter Store")]


async def _keys(connection: Connection, url: str, settings: Settings) -> Check:
    try:
        vault = await KeyRing.from_settings(settings, url).vault()
    except PenstockError as error:
        return Check("vault", "fail", error.message, error.remedy)
    rows = await connection.fetch("select * from all_tenants.vault_keys()")
    for row in rows:
        if row["secrets"] and not vault.has(row["key_id"]):
            needed = output.count(row["secrets"], "secret")
            return Check(
                "vault",
                "fail",
                f"the vault key {row['key_id']} is missing, which {needed} cannot be decrypted without",
                "Append it, after a comma, to PENSTOCK_VAULT_KEY or the key file",
            )
    if any(row["rotating_since"] is not None for row in rows if row["key_id"] == vault.key_id):
        return Check("vault", "warn", "a rotation was not finished", "Run: penstock vault rotate")
    return Check("vault", "ok", "the key was found")
