"""Finds the master keys: in the settings, or in a file of the data directory that is made once."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from penstock.db.private_files import ensure_private_dir, sync_folder, write_private
from penstock.settings import Settings
from penstock.vault.errors import VaultKeyInvalid

KEY_BYTES: Final = 32
FILE_NAME: Final = "vault.key"
VARIABLE: Final = "PENSTOCK_VAULT_KEY"


@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that wraps data keys. Its id is made of the key itself, so no list of ids can go wrong."""

    key_id: str
    key: bytes = field(repr=False)


def master_keys(settings: Settings) -> tuple[MasterKey, ...]:
    """All keys that open; the first one seals."""
    if settings.vault_key is not None:
        return read_keys(settings.vault_key, VARIABLE)
    return _from_file(settings.data_dir / FILE_NAME)


@dataclass(frozen=True, slots=True)
class ExistingKeys:
    """The keys of an installation as they are written, for a backup."""

    text: str = field(repr=False)
    ids: tuple[str, ...]


def existing_keys(settings: Settings) -> ExistingKeys | None:
    """The keys there are; none is made."""
    if settings.vault_key is None and not (settings.data_dir / FILE_NAME).exists():
        return None
    keys = master_keys(settings)
    text = ",".join(base64.b64encode(key.key).decode() for key in keys)
    return ExistingKeys(f"{text}\n", tuple(key.key_id for key in keys))


def add_keys(settings: Settings, text: str) -> None:
    """Put the keys of a backup into the data directory's file, before the keys that are there already."""
    path = settings.data_dir / FILE_NAME
    given = read_keys(text, "the backup's vault.key")
    kept = () if not path.exists() else _from_file(path)
    keys = (*given, *(key for key in kept if key.key_id not in {each.key_id for each in given}))
    ensure_private_dir(path.parent)
    write_private(path, ",".join(base64.b64encode(key.key).decode() for key in keys) + "\n")


def read_keys(text: str, source: str) -> tuple[MasterKey, ...]:
    """Keys of 32 bytes in base64, with commas between them."""
    keys = tuple(_key(part.strip(), source) for part in text.strip().split(","))
    if len({key.key_id for key in keys}) < len(keys):
        raise VaultKeyInvalid(source, "the same key is there twice", f"Name each key once in {source}")
    return keys


def generate_key() -> str:
    """A new key, as it is written into the variable or the file."""
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
    return MasterKey(hashlib.sha256(b"penstock vault key" + key).hexdigest()[:16], key)


def _from_file(path: Path) -> tuple[MasterKey, ...]:
    if not path.exists():
        _make(path)
    try:
        # A link could lead to a file somebody else may read or write.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise VaultKeyInvalid(
            str(path), f"it cannot be read ({error.strerror})", f"Let this user own {path}, as a plain file"
        ) from error
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            raise VaultKeyInvalid(str(path), "others may read it", f"Run: chmod 600 {path}")
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            raise VaultKeyInvalid(str(path), "it belongs to another user", f"Let this user own {path}")
        return read_keys(file.read(), str(path))


def _make(path: Path) -> None:
    """Write a new key whole, or leave the one another process wrote at the same time."""
    ensure_private_dir(path.parent)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(generate_key() + "\n")
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    sync_folder(path.parent)  # a key that a crash takes back leaves secrets nobody can open
