"""Tenants: projects, API keys, quotas, embedding usage, and deletion."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.accounts.accounts import Accounts
    from penstock.accounts.caller import Caller, Role
    from penstock.accounts.deletions import AccountDeletions
    from penstock.accounts.idempotency import IdempotentReplies, Reply
    from penstock.accounts.installation_keys import InstallationKeys
    from penstock.accounts.quotas import Quota, Quotas
    from penstock.accounts.rows import (
        ApiKey,
        Deletion,
        DeletionRequested,
        NewKey,
        Project,
        ProjectDeleted,
        Scope,
        Tenant,
        Usage,
    )
    from penstock.accounts.sessions import Sessions

__all__ = [
    "AccountDeletions",
    "Accounts",
    "ApiKey",
    "Caller",
    "Deletion",
    "DeletionRequested",
    "IdempotentReplies",
    "InstallationKeys",
    "NewKey",
    "Project",
    "ProjectDeleted",
    "Quota",
    "Quotas",
    "Reply",
    "Role",
    "Scope",
    "Sessions",
    "Tenant",
    "Usage",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "accounts": ["Accounts"],
        "caller": ["Caller", "Role"],
        "deletions": ["AccountDeletions"],
        "quotas": ["Quota", "Quotas"],
        "idempotency": ["IdempotentReplies", "Reply"],
        "installation_keys": ["InstallationKeys"],
        "rows": [
            "ApiKey",
            "Deletion",
            "DeletionRequested",
            "NewKey",
            "Project",
            "ProjectDeleted",
            "Scope",
            "Tenant",
            "Usage",
        ],
        "sessions": ["Sessions"],
    },
)
