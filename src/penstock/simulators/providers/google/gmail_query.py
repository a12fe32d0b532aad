"""Gmail's search words: from:, to:, subject:, after:, before:, newer_than:, in:, label:, has:attachment."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from penstock.simulators.providers.world.mail import Message

Test: TypeAlias = Callable[[Message], bool]

_HIDDEN: Final = ("TRASH", "SPAM")
_UNITS: Final = {"h": 3_600, "d": 86_400, "m": 30 * 86_400, "y": 365 * 86_400}


def parse_query(text: str | None, now: datetime, *, hidden: bool = False) -> Test:
    """A test of a mail: every word must match. Trash and spam are left out unless `hidden` or in: asks."""
    try:
        words = shlex.split((text or "").replace("'", "\u2019"))
    except ValueError:
        words = (text or "").split()
    tests = [_word(word, now) for word in words]
    anywhere = hidden or any(re.match(r"in:(trash|spam|anywhere)$", word, re.IGNORECASE) for word in words)

    def test(message: Message) -> bool:
        if not anywhere and any(label in message.labels for label in _HIDDEN):
            return False
        return all(each(message) for each in tests)

    return test


def with_labels(labels: Sequence[str]) -> Test:
    return lambda message: all(label in message.labels for label in labels)


def _word(word: str, now: datetime) -> Test:
    if word.startswith("-") and len(word) > 1:
        negated = _word(word[1:], now)
        return lambda message: not negated(message)
    name, colon, value = word.partition(":")
    folded = value.casefold()
    match name.lower() if colon else "":
        case "from":
            return lambda message: folded in message.sender.casefold()
        case "to":
            return lambda message: folded in " ".join((*message.to, *message.cc)).casefold()
        case "subject":
            return lambda message: folded in message.subject.casefold()
        case "after" | "newer" if (start := _day(value)) is not None:
            return lambda message: message.date >= start
        case "before" | "older" if (end := _day(value)) is not None:
            return lambda message: message.date < end
        case "newer_than" if value[:-1].isdigit() and value[-1] in _UNITS:
            since = now - timedelta(seconds=int(value[:-1]) * _UNITS[value[-1]])
            return lambda message: message.date >= since
        case "has" if folded == "attachment":
            return lambda message: message.has_files
        case "in" | "label" | "is":
            if folded == "anywhere":
                return lambda message: True
            return lambda message: value.upper() in message.labels
        case _:
            text = word.casefold()
            return lambda message: text in f"{message.subject} {message.text} {message.sender}".casefold()


def _day(value: str) -> datetime | None:
    """A date such as 2026/10/01, or seconds since 1970."""
    if value.isdigit() and len(value) > 8:
        return datetime.fromtimestamp(int(value), UTC)
    found = re.fullmatch(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})", value)
    return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None
