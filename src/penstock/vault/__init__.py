"""The vault room: tenants' secrets under envelope encryption, whose key never enters the database."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.vault.errors import SecretUnreadable, VaultKeyInvalid, VaultKeyMissing
    from penstock.vault.keys import MasterKey, generate_key, master_keys, read_keys
    from penstock.vault.sealing import Sealed, Vault
    from penstock.vault.secrets import Secrets

__all__ = [
    "MasterKey",
    "Sealed",
    "SecretUnreadable",
    "Secrets",
    "Vault",
    "VaultKeyInvalid",
    "VaultKeyMissing",
    "generate_key",
    "master_keys",
    "read_keys",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "errors": ["SecretUnreadable", "VaultKeyInvalid", "VaultKeyMissing"],
        "keys": ["MasterKey", "generate_key", "master_keys", "read_keys"],
        "sealing": ["Sealed", "Vault"],
        "secrets": ["Secrets"],
    },
)
