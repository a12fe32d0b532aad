"""Ciphertexts in AWS's Parameter Store: planned in the database first, deleted by maintenance."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from penstock.aws import AwsClient, AwsRefused
from penstock.db.reach import reach
from penstock.db.tenancy import SET_TENANT
from penstock.errors import NotFound, SettingInvalid
from penstock.model import SourceId, uuid7
from penstock.settings import Settings
from penstock.vault.errors import SecretUnreadable

VARIABLE: Final = "PENSTOCK_SECRET_STORE"
BATCH: Final = 10
"""The most parameters that one call of AWS deletes."""


class ParameterStore:
    """Values are ciphertexts, base64: reading the store alone, or the database alone, reveals nothing."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._prefix = settings.ssm_prefix
        self._kms_key_id = settings.ssm_kms_key_id
        self._url = url
        self._client = AwsClient(settings, "ssm", settings.ssm_endpoint, VARIABLE)

    async def plan(self, tenant_id: UUID, source_id: SourceId, purpose: str) -> tuple[UUID, str]:
        """The id of a new secret and the name of its parameter, of which the database now knows.

        Each secret has a parameter of its own, so that nothing is ever overwritten by another. The connection
        is not the caller's: the plan must be on disk, whatever becomes of the caller's transaction.
        """
        async with reach(self._url, application_name="penstock vault") as conn:
            async with conn.transaction():
                await conn.execute(SET_TENANT, str(tenant_id))
                row = await conn.fetchrow(
                    "select * from vault.plan_parameter($1, $2, $3)", self._prefix, source_id, purpose
                )
        assert row is not None
        return row["secret_id"], row["parameter_name"]

    async def put(self, name: str, ciphertext: bytes) -> None:
        key = {} if self._kms_key_id is None else {"KeyId": self._kms_key_id}
        await self._client.call(
            "put_parameter",
            Name=name,
            Value=base64.b64encode(ciphertext).decode(),
            Type="SecureString",
            Tier="Intelligent-Tiering",
            Overwrite=True,  # a repeated call, after an answer that was lost, must not fail
            **key,
        )

    async def get(self, name: str) -> bytes:
        """The ciphertext; NotFound if the parameter is gone."""
        try:
            answer = await self._client.call("get_parameter", Name=name, WithDecryption=True)
        except AwsRefused as refused:
            if refused.code != "ParameterNotFound":
                raise
            raise NotFound(
                f"the parameter {name} is gone",
                "parameter_name",
                "Connect the source again; its secret is gone.",
            ) from None
        try:
            return base64.b64decode(answer["Parameter"]["Value"], validate=True)
        except (binascii.Error, ValueError):
            raise SecretUnreadable(name) from None

    async def delete(self, names: Sequence[str]) -> str | None:
        """Delete up to ten parameters; those already gone are fine. AWS's error code, or None."""
        try:
            await self._client.call("delete_parameters", Names=list(names))
        except AwsRefused as refused:
            return refused.code
        except SettingInvalid:
            return "ClientMissing"
        return None

    async def probe(self) -> None:
        """Write, read and delete a parameter."""
        # A name of its own: AWS does not let a deleted name be used again at once.
        name = f"{self._prefix}/doctor/{uuid7()}"
        await self.put(name, b"doctor")
        await self.get(name)
        await self._client.call("delete_parameters", Names=[name])
