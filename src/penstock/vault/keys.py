"""Master keys as text: 32 bytes in base64, separated by commas; the first one encrypts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from penstock.vault.errors import VaultKeyInvalid

KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that wraps data keys. Its id is derived from the key, so ids cannot get out of sync."""

    key_id: str
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, key: bytes) -> MasterKey:
        return cls(hashlib.sha256(b"penstock vault key" + key).hexdigest()[:16], key)


def read_keys(text: str, source: str) -> tuple[MasterKey, ...]:
    """Parse keys of 32 bytes in base64, separated by commas."""
    keys = tuple(_key(part.strip(), source) for part in text.strip().split(","))
    if len({key.key_id for key in keys}) < len(keys):
        raise VaultKeyInvalid(source, "it contains the same key twice", f"Name each key once in {source}")
    return keys


def write_keys(keys: Iterable[MasterKey]) -> str:
    """The keys in the text form of the variable and the file."""
    return ",".join(base64.b64encode(key.key).decode() for key in keys) + "\n"


def generate_key() -> str:
    """A new key in the text form of the variable and the file."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def _key(text: str, source: str) -> MasterKey:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise VaultKeyInvalid(
            source,
            f"it is not {KEY_BYTES} bytes in base64",
            "Make one: head -c 32 /dev/urandom | base64",
        )
    return MasterKey.of(key)
