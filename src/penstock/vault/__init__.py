"""Tenants' secrets under envelope encryption; the master key never enters the database."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.vault.configured_keys import master_keys
    from penstock.vault.errors import SecretUnreadable, VaultKeyInvalid, VaultKeyMissing
    from penstock.vault.key_ring import KeyRing
    from penstock.vault.keys import MasterKey, generate_key, read_keys
    from penstock.vault.sealing import Sealed, Vault
    from penstock.vault.secrets import ACCESS_TOKEN, REFRESH_TOKEN, WEBHOOK, SecretGeneration, Secrets

__all__ = [
    "ACCESS_TOKEN",
    "REFRESH_TOKEN",
    "WEBHOOK",
    "KeyRing",
    "MasterKey",
    "Sealed",
    "SecretGeneration",
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
        "configured_keys": ["master_keys"],
        "errors": ["SecretUnreadable", "VaultKeyInvalid", "VaultKeyMissing"],
        "key_ring": ["KeyRing"],
        "keys": ["MasterKey", "generate_key", "read_keys"],
        "sealing": ["Sealed", "Vault"],
        "secrets": ["ACCESS_TOKEN", "REFRESH_TOKEN", "WEBHOOK", "SecretGeneration", "Secrets"],
    },
)
