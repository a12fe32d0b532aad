"""Whether the providers of mailboxes can notify us, by the settings: where to, and why not."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from penstock.model.document_class import MAILBOXES

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.mail.mailbox import NotifiedMailbox
    from penstock.sources.protocol import OpenSource
    from penstock.sources.registry import Providers

OUTLOOK: Final = "outlook"
GMAIL: Final = "gmail"
PUSH_KINDS: Final = (OUTLOOK, GMAIL)
RENEW_EVERY: Final = {GMAIL: timedelta(days=1)}
"""Google asks for a renewal every day; others are renewed at half of a subscription's life."""


class PushProvider(Protocol):
    """A provider whose mailboxes can be subscribed to, in addition to what every provider has."""

    def open_mailbox(self, source: OpenSource) -> AbstractAsyncContextManager[NotifiedMailbox]: ...


def callback_url(settings: Settings, kind: str) -> str:
    """Where the provider sends its notifications."""
    return f"{settings.api_url}/webhooks/{kind}"


def target_of(settings: Settings, kind: str) -> str:
    """What a subscription is created with: our address, or the topic that forwards to it."""
    return settings.gmail_push_topic or "" if kind == GMAIL else callback_url(settings, kind)


def audience(settings: Settings) -> str:
    """What the tokens of Gmail's notifications must be for."""
    return settings.gmail_push_audience or callback_url(settings, GMAIL)


def why_off(settings: Settings, kind: str) -> str | None:
    """Why mailboxes of this kind get no notifications; None if they do."""
    if kind not in PUSH_KINDS:
        return "its provider sends no notifications"
    if settings.public_url is None:
        return "PENSTOCK_PUBLIC_URL is not set"
    # A simulator on this machine may be reached without TLS; a provider may not.
    if urlsplit(settings.public_url).scheme != "https" and not settings.allow_private_addresses:
        return "PENSTOCK_PUBLIC_URL is not an https address"
    if kind == GMAIL:
        for name in ("gmail_push_topic", "gmail_push_service_account"):
            if not getattr(settings, name):
                return f"PENSTOCK_{name.upper()} is not set"
    return None


def push_kinds(settings: Settings, providers: Providers) -> list[str]:
    """The kinds whose sources are to be subscribed."""
    known = [kind for kind in PUSH_KINDS if kind in providers.kinds and why_off(settings, kind) is None]
    return [kind for kind in known if hasattr(providers.get(kind), "open_mailbox")]


def default_sync_every(settings: Settings, kind: str) -> timedelta:
    """How often a new source is synced: a mailbox by the sweep, others every night."""
    return timedelta(seconds=settings.mail_sweep_seconds) if kind in MAILBOXES else timedelta(days=1)
