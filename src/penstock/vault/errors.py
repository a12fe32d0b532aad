"""Errors of the vault; none of them contains a secret."""

from __future__ import annotations

from penstock.errors import PenstockError


class VaultKeyInvalid(PenstockError):
    """A master key cannot be used; `source` is the variable or the file it came from."""

    def __init__(self, source: str, reason: str, remedy: str) -> None:
        super().__init__(f"The vault key in {source} cannot be used: {reason}", remedy)
        self.source = source
        self.reason = reason
        self.args = (source, reason, remedy)


class VaultKeyMissing(PenstockError):
    """A secret was encrypted with a master key this process does not have."""

    def __init__(self, key_id: str) -> None:
        super().__init__(
            f"The vault key {key_id} is missing",
            "Give this process the key that encrypted the secret: append it, after a comma, to"
            " PENSTOCK_VAULT_KEY or the key file",
        )
        self.key_id = key_id
        self.args = (key_id,)


class SecretUnreadable(PenstockError):
    """An encrypted secret was changed, or belongs to another tenant, id or name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The secret {name!r} cannot be decrypted",
            "It was changed or moved in the database: restore it from a backup, or store it again",
        )
        self.name = name
        self.args = (name,)
