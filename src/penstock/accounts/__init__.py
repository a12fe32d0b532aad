"""Tenants, their projects, their keys, and what embedding costs them."""

from penstock.accounts.accounts import Accounts
from penstock.accounts.completion_webhook import CompletionWebhook, CompletionWebhooks
from penstock.accounts.replies import KeptReplies, Reply
from penstock.accounts.rows import ApiKey, Caller, NewKey, Project, Scope, Tenant, Usage

__all__ = [
    "Accounts",
    "ApiKey",
    "Caller",
    "CompletionWebhook",
    "CompletionWebhooks",
    "KeptReplies",
    "NewKey",
    "Project",
    "Reply",
    "Scope",
    "Tenant",
    "Usage",
]
