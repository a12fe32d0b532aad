"""The master keys of a running process, read again when a file changes or a secret names an unknown key."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from penstock.observe import get_logger
from penstock.settings import Settings
from penstock.vault.configured_keys import VARIABLE, key_file, without_repeats
from penstock.vault.errors import VaultKeyInvalid, VaultKeyMissing
from penstock.vault.key_file import KeyFile, Version
from penstock.vault.keys import MasterKey, read_keys
from penstock.vault.kms import KmsKeys
from penstock.vault.sealing import Vault

log = get_logger(__name__)

PAUSE_SECONDS: Final = 5.0
"""A key that is missing everywhere is not looked for again for this long."""


class KeyRing:
    """Keys of AWS KMS come first, then those of the setting, then the file's; the very first one encrypts."""

    def __init__(
        self,
        *,
        kms: KmsKeys | None = None,
        given: tuple[MasterKey, ...] = (),
        file: KeyFile | None = None,
    ) -> None:
        self._kms = kms
        self._given = given
        self._file = file
        self._vault: Vault | None = None
        self._file_keys: tuple[MasterKey, ...] = ()
        self._version: Version | None = None
        self._reading = asyncio.Lock()
        self._missing: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: Settings, url: str) -> KeyRing:
        """`url` is the database's, in which keys of AWS KMS are stored."""
        return cls(
            kms=None if settings.vault_kms_key_id is None else KmsKeys(settings, url),
            given=() if settings.vault_key is None else read_keys(settings.vault_key, VARIABLE),
            file=key_file(settings),
        )

    @classmethod
    def fixed(cls, vault: Vault) -> KeyRing:
        """Keys that never change."""
        ring = cls()
        ring._vault = vault
        return ring

    async def vault(self) -> Vault:
        """The vault with the current keys, read again if the file has changed."""
        if self._vault is None or self._changed():
            async with self._reading:
                if self._vault is None:
                    await self._read()
                elif self._changed():
                    await self._read_change()
        assert self._vault is not None
        return self._vault

    async def vault_with(self, key_id: str) -> Vault:
        """The vault with this key; it is looked for once more before VaultKeyMissing is raised."""
        vault = await self.vault()
        if vault.has(key_id):
            return vault
        if time.monotonic() < self._missing.get(key_id, 0.0):
            raise VaultKeyMissing(key_id)
        vault = await self.reload()
        if not vault.has(key_id):
            self._missing[key_id] = time.monotonic() + PAUSE_SECONDS
            raise VaultKeyMissing(key_id)
        return vault

    async def reload(self) -> Vault:
        """Read the keys again."""
        async with self._reading:
            await self._read()
        assert self._vault is not None
        return self._vault

    async def add_first(self, after: str) -> Vault:
        """Make a new key where the first one, `after`, is kept, unless another process has replaced that."""
        if self._kms is not None:
            await self._kms.add_first(after)
        elif self._given:
            raise VaultKeyInvalid(
                VARIABLE,
                "a rotation cannot add a key to a setting",
                f"Make one (head -c 32 /dev/urandom | base64), set {VARIABLE}=NEW,OLD for every process,"
                " restart them, and run this again",
            )
        else:
            assert self._file is not None
            await asyncio.to_thread(self._file.add_first, after)
        return await self.reload()

    async def remove(self, key_id: str) -> bool:
        """Remove a key from the file; False if it was not there or is kept elsewhere."""
        if self._file is None or not self._file.path.exists():
            return False
        return await asyncio.to_thread(self._file.remove, key_id)

    def _changed(self) -> bool:
        """Whether the file has changed; one that is gone has not: its keys are still needed here."""
        return self._file is not None and self._file.version not in (None, self._version)

    async def _read_change(self) -> None:
        """Go on with the keys read before if the file is wrong now: it may just be being edited."""
        try:
            await self._read()
        except VaultKeyInvalid as error:
            log.throttled(
                "vault_key_unreadable", every=60, level="error", reason=error.message, remedy=error.remedy
            )

    async def _read(self) -> None:
        # Before the keys: a change in between is noticed by the next call.
        version = None if self._file is None else self._file.version
        if self._file is not None and (version is not None or not self._file_keys):
            self._file_keys = await asyncio.to_thread(self._file.read)
        kms = () if self._kms is None else await self._kms.read()
        keys = without_repeats((*kms, *self._given, *self._file_keys))
        if keys:
            self._vault = Vault(keys)
        self._version = version
