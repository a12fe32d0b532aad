"""Envelope encryption: each secret has its own key, wrapped by the master key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.settings import Settings
from penstock.vault.configured_keys import master_keys
from penstock.vault.errors import SecretUnreadable, VaultKeyMissing
from penstock.vault.keys import KEY_BYTES, MasterKey

_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret as the database stores it; useless without the master key."""

    ciphertext: bytes = field(repr=False)
    nonce: bytes = field(repr=False)
    wrapped_key: bytes = field(repr=False)
    key_nonce: bytes = field(repr=False)
    key_id: str


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A data key as the database stores it."""

    wrapped_key: bytes = field(repr=False)
    key_nonce: bytes = field(repr=False)
    key_id: str


class Vault:
    """Encrypts with the first master key and decrypts with any of them."""

    def __init__(self, keys: Sequence[MasterKey]) -> None:
        self._first = keys[0]
        self._keys = {key.key_id: AESGCM(key.key) for key in keys}

    @classmethod
    def from_settings(cls, settings: Settings) -> Vault:
        return cls(master_keys(settings))

    @property
    def key_id(self) -> str:
        """The id of the encrypting key; older secrets stay readable while their key is still configured."""
        return self._first.key_id

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The ids of all keys, the encrypting one first."""
        return tuple(self._keys)

    def has(self, key_id: str) -> bool:
        return key_id in self._keys

    def rewrap(self, name: str, sealed: Wrapped) -> Wrapped:
        """The same data key under the encrypting master key; `name` is for errors."""
        key_nonce, wrapped_key = self._wrap(self._unwrap(name, sealed))
        return Wrapped(wrapped_key, key_nonce, self._first.key_id)

    def seal(self, tenant_id: UUID, secret_id: UUID, name: str, plaintext: bytes) -> Sealed:
        data_key = AESGCM.generate_key(KEY_BYTES * 8)
        nonce = os.urandom(_NONCE_BYTES)
        ciphertext = AESGCM(data_key).encrypt(nonce, plaintext, _place(tenant_id, secret_id, name))
        key_nonce, wrapped_key = self._wrap(data_key)
        return Sealed(ciphertext, nonce, wrapped_key, key_nonce, self._first.key_id)

    def open(self, tenant_id: UUID, secret_id: UUID, name: str, sealed: Sealed) -> bytes:
        """The plaintext; SecretUnreadable if tenant, id or name differ from those it was sealed for."""
        data_key = self._unwrap(name, sealed)
        try:
            return AESGCM(data_key).decrypt(
                sealed.nonce, sealed.ciphertext, _place(tenant_id, secret_id, name)
            )
        except (InvalidTag, ValueError) as broken:
            raise SecretUnreadable(name) from broken

    def _wrap(self, data_key: bytes) -> tuple[bytes, bytes]:
        nonce = os.urandom(_NONCE_BYTES)
        key_id = self._first.key_id
        return nonce, self._keys[key_id].encrypt(nonce, data_key, key_id.encode())

    def _unwrap(self, name: str, sealed: Sealed | Wrapped) -> bytes:
        master = self._keys.get(sealed.key_id)
        if master is None:
            raise VaultKeyMissing(sealed.key_id)
        try:
            return master.decrypt(sealed.key_nonce, sealed.wrapped_key, sealed.key_id.encode())
        except (InvalidTag, ValueError) as broken:
            raise SecretUnreadable(name) from broken


def _place(tenant_id: UUID, secret_id: UUID, name: str) -> bytes:
    """The secret's location as additional authenticated data; both ids have a fixed length."""
    return b"penstock.secret.1|" + tenant_id.bytes + secret_id.bytes + name.encode()
