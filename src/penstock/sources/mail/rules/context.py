"""What the rules know beside the mail: our addresses, our clients, and what was decided before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.sources.mail.message import MailAttachment


@dataclass(frozen=True, slots=True, kw_only=True)
class MailContext:
    """All addresses and domains are in lower case.

    `restored`: by sender, the rules whose decision a person reversed. `seen`: by `seen_key`, in how many
    earlier mails of this sender the same attachment was. `accepted_threads` have a document we kept.
    """

    own_addresses: frozenset[str] = frozenset()
    client_addresses: frozenset[str] = frozenset()
    client_domains: frozenset[str] = frozenset()
    restored: Mapping[str, frozenset[str]] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    accepted_threads: frozenset[str] = frozenset()


NOTHING_KNOWN = MailContext()


def seen_key(attachment: MailAttachment) -> str:
    """Equal for the same picture in two mails, as far as its name and size tell."""
    return f"{attachment.size} {attachment.filename[:200].lower()}"
