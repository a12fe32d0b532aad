"""The kinds of sources there are, how a source of each is added, and whether this installation can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.errors import PenstockError
from penstock.model.document_class import MAILBOXES
from penstock.sources.errors import ClientMissing
from penstock.sources.passwords import takes_password

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.registry import Providers


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """`way`: by consent at the provider, with a password, by a signed webhook, or with a configuration.

    `is_ready`: a source of this kind can be added now; otherwise `remedy` is what the operator does first.
    """

    kind: str
    title: str
    way: Literal["consent", "password", "webhook", "config"]
    is_mailbox: bool
    is_ready: bool
    reason: str | None
    remedy: str | None


def source_kinds(providers: Providers, settings: Settings) -> list[SourceKind]:
    """Every kind by title, the webhook last; a package that cannot be loaded is listed with its reason."""
    found = sorted(
        (_kind(providers, settings, kind) for kind in providers.kinds), key=lambda each: each.title
    )
    return [*found, _told("webhook", "Webhook", "webhook")]


def _kind(providers: Providers, settings: Settings, kind: str) -> SourceKind:
    try:
        provider = providers.get(kind)
    except PenstockError as error:
        return _told(kind, kind, "config", error)
    try:
        by_consent = provider.oauth(settings) is not None
    except ClientMissing as error:
        return _told(kind, provider.title, "consent", error)
    if by_consent:
        return _told(kind, provider.title, "consent")
    return _told(kind, provider.title, "password" if takes_password(provider) else "config")


def _told(
    kind: str,
    title: str,
    way: Literal["consent", "password", "webhook", "config"],
    error: PenstockError | None = None,
) -> SourceKind:
    return SourceKind(
        kind=kind,
        title=title,
        way=way,
        is_mailbox=kind in MAILBOXES,
        is_ready=error is None,
        reason=None if error is None else error.message,
        remedy=None if error is None else error.remedy,
    )
