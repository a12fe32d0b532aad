"""Tenants, their projects, their keys, what embedding costs them, and their deletion."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.accounts.accounts import Accounts
    from penstock.accounts.completion_webhook import CompletionWebhook, CompletionWebhooks
    from penstock.accounts.deletions import AccountDeletions
    from penstock.accounts.holdings import Holding, Holdings
    from penstock.accounts.replies import KeptReplies, Reply
    from penstock.accounts.rows import (
        ApiKey,
        Caller,
        Deletion,
        DeletionRequested,
        NewKey,
        Project,
        ProjectDeleted,
        Scope,
        Tenant,
        Usage,
    )

__all__ = [
    "AccountDeletions",
    "Accounts",
    "ApiKey",
    "Caller",
    "CompletionWebhook",
    "CompletionWebhooks",
    "Deletion",
    "DeletionRequested",
    "Holding",
    "Holdings",
    "KeptReplies",
    "NewKey",
    "Project",
    "ProjectDeleted",
    "Reply",
    "Scope",
    "Tenant",
    "Usage",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "accounts": ["Accounts"],
        "completion_webhook": ["CompletionWebhook", "CompletionWebhooks"],
        "deletions": ["AccountDeletions"],
        "holdings": ["Holding", "Holdings"],
        "replies": ["KeptReplies", "Reply"],
        "rows": [
            "ApiKey",
            "Caller",
            "Deletion",
            "DeletionRequested",
            "NewKey",
            "Project",
            "ProjectDeleted",
            "Scope",
            "Tenant",
            "Usage",
        ],
    },
)
