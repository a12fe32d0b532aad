"""Rewraps every secret's data key under a new master key, in batches, while other processes go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, Literal
from uuid import UUID

from penstock.db import Record
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidMove, NotFound
from penstock.vault.errors import SecretUnreadable, VaultKeyMissing
from penstock.vault.key_ring import KeyRing
from penstock.vault.sealing import Vault, Wrapped

BATCH: Final = 500
State = Literal["encrypts", "in use", "missing", "removable", "forgotten"]
_FIRST: Final = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultKey:
    """A master key by its id.

    It `encrypts`, or some secrets are still under it (`in use`, or `missing` if this process lacks it), or
    none are (`removable`, or `forgotten` if it only has to be removed from its setting).
    """

    key_id: str
    state: State
    secrets: int
    oldest: datetime | None
    newest: datetime | None
    rotating_since: datetime | None
    rotated_at: datetime | None
    kms_key_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """`unreadable` are secrets whose data key could not be unwrapped; they are as they were."""

    key_id: str
    new_key: bool
    rewrapped: int
    unreadable: tuple[UUID, ...]
    removable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Whether a rotation makes a new key, and how many data keys it rewraps."""

    first_key_id: str
    new_key: bool
    secrets: int


class Rotation:
    """`tenants` connects as an operator. Every step may be repeated, also after a crash at any point."""

    def __init__(self, keys: KeyRing, tenants: TenantPool, *, batch: int = BATCH) -> None:
        self._batch = batch
        self._keys = keys
        self._tenants = tenants

    async def status(self) -> list[VaultKey]:
        """The keys that this process has or that secrets need, the encrypting one first."""
        vault = await self._keys.reload()
        async with self._tenants.all_tenants() as conn:
            rows = {row["key_id"]: row for row in await conn.fetch("select * from all_tenants.vault_keys()")}
        found = [_key(key_id, rows.pop(key_id, None), vault) for key_id in vault.key_ids]
        others = [_key(key_id, row, vault) for key_id, row in rows.items()]
        return found + [key for key in others if key.state != "forgotten"]

    async def plan(self, *, new_key: bool = False) -> Plan:
        """What a rotation now would do."""
        first, *others = await self.status()
        left = sum(key.secrets for key in others if key.state == "in use")
        if not new_key and (left or first.rotating_since is not None):
            return Plan(first.key_id, False, left)
        return Plan(first.key_id, True, first.secrets + left)

    async def rotate(
        self, progress: Callable[[int, int], None] = lambda done, total: None, *, new_key: bool = False
    ) -> Rotated:
        """Make a new first key, or go on with one that does not wrap every secret yet."""
        plan = await self.plan(new_key=new_key)
        vault = await (self._keys.add_first(plan.first_key_id) if plan.new_key else self._keys.vault())
        async with self._tenants.all_tenants() as conn:
            total = await conn.fetchval("select all_tenants.start_rotation($1)", vault.key_id)
        rewrapped = 0
        while True:
            # A process that still encrypts with the old key may have written behind the last pass.
            done, unreadable = await self._pass(vault, partial(_add, progress, rewrapped, total))
            rewrapped += done
            async with self._tenants.all_tenants() as conn:
                left = await conn.fetchval(
                    "select all_tenants.end_rotation($1, $2)", vault.key_id, len(unreadable)
                )
            if left <= len(unreadable):
                break
        removable = tuple(key.key_id for key in await self.status() if key.state == "removable")
        return Rotated(
            key_id=vault.key_id,
            new_key=plan.new_key,
            rewrapped=rewrapped,
            unreadable=tuple(sorted(unreadable)),
            removable=removable,
        )

    async def forget(self, key_id: str) -> bool:
        """Forget a key that no secret needs; the file loses it too. False if it was forgotten before."""
        known = {key.key_id: key.state for key in await self.status()}
        if key_id not in known:
            raise NotFound(
                f"there is no vault key {key_id}", "key_id", "List the keys: penstock vault status"
            )
        if known[key_id] == "encrypts":
            raise InvalidMove(
                f"new secrets are encrypted with the vault key {key_id}",
                "key_id",
                "Run penstock vault rotate first",
            )
        async with self._tenants.all_tenants() as conn:
            forgotten = await conn.fetchval("select all_tenants.forget_key($1)", key_id)
        return bool(await self._keys.remove(key_id) or forgotten)

    async def _pass(self, vault: Vault, progress: Callable[[int], None]) -> tuple[int, set[UUID]]:
        after, done, unreadable = _FIRST, 0, set[UUID]()
        while True:
            async with self._tenants.all_tenants() as conn:
                rows = await conn.fetch(
                    "select * from all_tenants.secrets_to_rewrap($1, $2, $3)",
                    vault.key_id,
                    after,
                    self._batch,
                )
                if not rows:
                    return done, unreadable
                after = rows[-1]["secret_id"]
                ids, before, wrapped, nonces = [], [], [], []
                for row in rows:
                    held = Wrapped(row["wrapped_key"], row["key_nonce"], row["key_id"])
                    try:
                        new = vault.rewrap(str(row["secret_id"]), held)
                    except (SecretUnreadable, VaultKeyMissing):
                        unreadable.add(row["secret_id"])
                        continue
                    ids.append(row["secret_id"])
                    before.append(held.wrapped_key)
                    wrapped.append(new.wrapped_key)
                    nonces.append(new.key_nonce)
                done += await conn.fetchval(
                    "select all_tenants.rewrap_secrets($1, $2, $3, $4, $5)",
                    vault.key_id,
                    ids,
                    before,
                    wrapped,
                    nonces,
                )
            progress(done)


def _add(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _key(key_id: str, row: Record | None, vault: Vault) -> VaultKey:
    secrets = 0 if row is None else row["secrets"]
    state: State
    if key_id == vault.key_id:
        state = "encrypts"
    elif secrets:
        state = "in use" if vault.has(key_id) else "missing"
    else:
        state = "removable" if row is None or row["forgotten_at"] is None else "forgotten"
    known = {} if row is None else dict(row)
    return VaultKey(
        key_id=key_id,
        state=state,
        secrets=secrets,
        oldest=known.get("oldest"),
        newest=known.get("newest"),
        rotating_since=known.get("rotating_since"),
        rotated_at=known.get("rotated_at"),
        kms_key_id=known.get("kms_key_id"),
    )
