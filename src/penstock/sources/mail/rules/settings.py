"""The rules' settings of one source: rules that are off, other weights, senders to allow and to block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """Made by `check_rules`. Senders are addresses or domains in lower case, with the domains below."""

    off: frozenset[str] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)
    allow_senders: frozenset[str] = frozenset()
    block_senders: frozenset[str] = frozenset()


DEFAULT_SETTINGS = RuleSettings()


def is_listed(sender: str, listed: frozenset[str]) -> bool:
    """Whether the address, its domain or a domain above it is in the list."""
    if not listed:
        return False
    if sender in listed:
        return True
    labels = sender.rpartition("@")[2].split(".")[-10:]
    return any(".".join(labels[start:]) in listed for start in range(len(labels) - 1))
