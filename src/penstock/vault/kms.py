"""Master keys that AWS KMS wraps: stored wrapped in the database, unwrapped once per process."""

from __future__ import annotations

from typing import Final

from penstock.aws import AwsClient
from penstock.db.reach import reach
from penstock.settings import Settings
from penstock.vault.errors import VaultKeyInvalid
from penstock.vault.keys import KEY_BYTES, MasterKey

VARIABLE: Final = "PENSTOCK_VAULT_KMS_KEY_ID"
CONTEXT: Final = {"penstock": "vault master key"}
"""KMS unwraps a key only with the context it was wrapped with, and logs it in CloudTrail."""


class KmsKeys:
    """Reads and adds keys over connections of its own, so that a caller's full pool cannot block it."""

    def __init__(self, settings: Settings, url: str) -> None:
        assert settings.vault_kms_key_id is not None
        self._ids = [part.strip() for part in settings.vault_kms_key_id.split(",")]
        self._url = url
        self._client = AwsClient(settings, "kms", settings.kms_endpoint, VARIABLE)
        self._unwrapped: dict[str, MasterKey] = {}

    async def read(self) -> tuple[MasterKey, ...]:
        """All keys, the newest first; the first call of an installation makes one."""
        found = await self._read()
        return found or await self.add_first(None)

    async def add_first(self, after: str | None) -> tuple[MasterKey, ...]:
        """Make a new key and return all, unless another process has replaced the first key `after`."""
        made = await self._client.call(
            "generate_data_key", KeyId=self._ids[0], NumberOfBytes=KEY_BYTES, EncryptionContext=CONTEXT
        )
        key = MasterKey.of(made["Plaintext"])
        row = (key.key_id, made["CiphertextBlob"], self._ids[0])
        async with reach(self._url, application_name="penstock vault") as conn:
            if after is None:
                await conn.execute("select all_tenants.add_first_key($1, $2, $3)", *row)
            else:
                await conn.execute("select all_tenants.add_next_key($1, $2, $3, $4)", *row, after)
        return await self._read()

    async def _read(self) -> tuple[MasterKey, ...]:
        async with reach(self._url, application_name="penstock vault") as conn:
            rows = await conn.fetch("select * from all_tenants.wrapped_keys()")
        return tuple([await self._unwrap(**dict(row)) for row in rows])

    async def _unwrap(self, key_id: str, wrapped_key: bytes, kms_key_id: str) -> MasterKey:
        if key_id in self._unwrapped:
            return self._unwrapped[key_id]
        if kms_key_id not in self._ids:
            # A key of somebody else's account would unwrap too: only the configured ones may.
            raise VaultKeyInvalid(
                VARIABLE,
                f"the vault key {key_id} was wrapped by {kms_key_id}",
                f"Append {kms_key_id} to {VARIABLE}, after a comma",
            )
        opened = await self._client.call(
            "decrypt", CiphertextBlob=wrapped_key, KeyId=kms_key_id, EncryptionContext=CONTEXT
        )
        key = MasterKey.of(opened["Plaintext"])
        if key.key_id != key_id:
            raise VaultKeyInvalid(
                "the database",
                f"its row {key_id} holds another key",
                "Restore internal.vault_key from a backup",
            )
        self._unwrapped[key_id] = key
        return key
