"""Requests the deletion of an account and shows its progress, by account or by the receipt's token."""

from __future__ import annotations

import secrets
from datetime import timedelta

from penstock.accounts.rows import Deletion, DeletionRequested
from penstock.accounts.token_hash import token_hash
from penstock.db.tenancy import TenantPool
from penstock.errors import NotFound
from penstock.model import TenantId
from penstock.model.rows import row_from_json
from penstock.settings import Settings

REQUEST = "select * from api.request_account_deletion($1, $2, $3)"
IS_OURS = "select all_tenants.find_deletion($1) is not null"


class AccountDeletions:
    """`tenants` connects as a role that may do this: `of` is for operators, the rest also for the API."""

    def __init__(self, tenants: TenantPool, settings: Settings) -> None:
        self._tenants = tenants
        self._settings = settings

    async def request(self, tenant_id: TenantId) -> DeletionRequested:
        """Start it, or restart it after a failure; a repeated request returns the same task and no token."""
        token = secrets.token_urlsafe(32)
        retention = timedelta(days=self._settings.backup_retention_days)
        async with self._tenants.transaction(tenant_id) as conn:
            row = await conn.fetchrow(REQUEST, tenant_id, retention, token_hash(token))
            assert row is not None
            if row["validation_failure_message"] is not None:
                raise NotFound(
                    row["validation_failure_message"], "account_id", "List the tenants: penstock tenant list"
                )
            ours = await conn.fetchval(IS_OURS, token_hash(token))
        return DeletionRequested(
            account_id=tenant_id,
            account_deletion_task_id=row["account_deletion_task_id"],
            receipt_token=token if ours else None,
        )

    async def show(self, tenant_id: TenantId) -> Deletion:
        """The deletion of this account; NotFound if none was requested."""
        async with self._tenants.transaction(tenant_id) as conn:
            return _found(await conn.fetchval("select accounts.show_deletion()"), f"of account {tenant_id}")

    async def find(self, token: str) -> Deletion:
        """The deletion that this token was issued for."""
        async with self._tenants.all_tenants() as conn:
            return _found(
                await conn.fetchval("select all_tenants.find_deletion($1)", token_hash(token)),
                "with this token",
            )

    async def of(self, account_id: TenantId) -> Deletion:
        """Like `show`, for operators, of any account."""
        async with self._tenants.all_tenants() as conn:
            return _found(
                await conn.fetchval("select all_tenants.deletion_of($1)", account_id),
                f"of account {account_id}",
            )


def _found(row: str | None, which: str) -> Deletion:
    if row is None:
        raise NotFound(f"there is no deletion {which}", "deletion", "Check the id or the token")
    return row_from_json(Deletion, row)
