"""Requests the deletion of an account and tells how far it is, by account or by the receipt's token."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from penstock.accounts.rows import Deletion, DeletionRequested
from penstock.db.tenancy import TenantPool
from penstock.errors import NotFound
from penstock.model import TenantId
from penstock.settings import Settings

REQUEST = "select * from api.request_account_deletion($1, $2, $3)"
IS_OURS = "select keeping.find_deletion($1) is not null"


class AccountDeletions:
    """`tenants` connects as whoever may do this: `of` is for operators, the rest also for the API."""

    def __init__(self, tenants: TenantPool, settings: Settings) -> None:
        self._tenants = tenants
        self._settings = settings

    async def request(self, tenant_id: TenantId) -> DeletionRequested:
        """Start it, or again after a failure; a second request gives the task there is, and no new token."""
        token = secrets.token_urlsafe(32)
        retention = timedelta(days=self._settings.backup_retention_days)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchrow(REQUEST, tenant_id, retention, _hash(token))
            assert row is not None
            if row["validation_failure_message"] is not None:
                raise NotFound(
                    row["validation_failure_message"], "account_id", "List the tenants: penstock tenant list"
                )
            ours = await conn.fetchval(IS_OURS, _hash(token))
        return DeletionRequested(
            account_id=tenant_id,
            account_deletion_task_id=row["account_deletion_task_id"],
            receipt_token=token if ours else None,
        )

    async def show(self, tenant_id: TenantId) -> Deletion:
        """The deletion of this account; NotFound when none was requested."""
        async with self._tenants.transaction(tenant_id) as conn:
            return _found(await conn.fetchval("select accounts.show_deletion()"), f"of account {tenant_id}")

    async def find(self, token: str) -> Deletion:
        """The deletion that this token was given out for."""
        async with self._tenants.everyone() as conn:
            return _found(
                await conn.fetchval("select keeping.find_deletion($1)", _hash(token)), "with this token"
            )

    async def of(self, account_id: TenantId) -> Deletion:
        """The same as `show`, for operators, of any account."""
        async with self._tenants.everyone() as conn:
            return _found(
                await conn.fetchval("select keeping.deletion_of($1)", account_id), f"of account {account_id}"
            )


def _found(row: str | None, which: str) -> Deletion:
    if row is None:
        raise NotFound(f"there is no deletion {which}", "deletion", "Check the id or the token")
    return Deletion.model_validate_json(row)


def _hash(token: str) -> bytes:
    """A token has 256 random bits, as a key has, so its hash is safe to keep."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
