"""What can go wrong with secrets, each with what to do about it; none holds a secret."""

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
    """A secret was sealed under a master key this process does not have."""

    def __init__(self, key_id: str) -> None:
        super().__init__(
            f"The vault key {key_id} is not here",
            "Add the key the secret was sealed under to PENSTOCK_VAULT_KEY, after the newest and a comma",
        )
        self.key_id = key_id
        self.args = (key_id,)


class SecretUnreadable(PenstockError):
    """A sealed secret was changed, or belongs to another tenant, id or name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The secret {name!r} does not open",
            "It was changed or moved in the database: restore it from a backup, or store it again",
        )
        self.name = name
        self.args = (name,)
