"""The master keys that settings and files give, without AWS KMS; what a backup takes along."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from penstock.settings import Settings
from penstock.vault.key_file import KeyFile
from penstock.vault.keys import MasterKey, read_keys, write_keys

FILE_NAME: Final = "vault.key"
VARIABLE: Final = "PENSTOCK_VAULT_KEY"


def key_file(settings: Settings) -> KeyFile | None:
    """The file that the settings name, or else the data directory's if no setting gives a key."""
    if settings.vault_key_file is not None:
        return KeyFile(settings.vault_key_file, created=False)
    if settings.vault_key is None and settings.vault_kms_key_id is None:
        return KeyFile(settings.data_dir / FILE_NAME, created=True)
    return None


def master_keys(settings: Settings) -> tuple[MasterKey, ...]:
    """All keys of settings and files for decryption; the first one encrypts, unless AWS KMS has one."""
    keys = () if settings.vault_key is None else read_keys(settings.vault_key, VARIABLE)
    file = key_file(settings)
    return without_repeats((*keys, *(() if file is None else file.read())))


def without_repeats(keys: tuple[MasterKey, ...]) -> tuple[MasterKey, ...]:
    """The keys in their order, each once: a key may be in the setting and in the file."""
    return tuple({key.key_id: key for key in keys}.values())


@dataclass(frozen=True, slots=True)
class ExistingKeys:
    """An installation's keys as text, for a backup."""

    text: str = field(repr=False)
    ids: tuple[str, ...]


def existing_keys(settings: Settings) -> ExistingKeys | None:
    """The existing keys; none is created. Those of AWS KMS are in the database, as KMS wrapped them."""
    file = key_file(settings)
    if settings.vault_key is None and (file is None or not file.path.exists()):
        return None
    keys = master_keys(settings)
    return ExistingKeys(write_keys(keys), tuple(key.key_id for key in keys))
