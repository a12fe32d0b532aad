"""The settings of a mailbox source: which folders, and what becomes a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.errors import InvalidArgument

DEFAULT_FOLDERS: Final = ("inbox",)
MOST_FOLDERS: Final = 50
LONGEST_NAME: Final = 250


def folders_of(config: Mapping[str, Any]) -> Sequence[str]:
    """The folders to read, each once; the inbox unless others are named."""
    given = config.get("folders", list(DEFAULT_FOLDERS))
    good = (
        isinstance(given, list)
        and 0 < len(given) <= MOST_FOLDERS
        and all(isinstance(each, str) and 0 < len(each.strip()) <= LONGEST_NAME for each in given)
    )
    if not good:
        raise InvalidArgument(
            f"folders must be a list of 1 to {MOST_FOLDERS} names",
            "folders",
            'Such as ["inbox", "Clients/Invoices"]; remove it for the inbox',
        )
    return list(dict.fromkeys(each.strip() for each in given))


def switch(config: Mapping[str, Any], name: str, *, default: bool) -> bool:
    given = config.get(name, default)
    if not isinstance(given, bool):
        raise InvalidArgument(f"{name} must be true or false", name, f"The default is {str(default).lower()}")
    return given


def mailbox_of(config: Mapping[str, Any]) -> str | None:
    """The address of a shared mailbox, None for the account's own."""
    given = config.get("mailbox")
    if given is None:
        return None
    name, _, domain = given.rpartition("@") if isinstance(given, str) else ("", "", "")
    if not name or "." not in domain or not given.isprintable() or set(given) & set(" /\\<>\"'"):
        raise InvalidArgument(
            "mailbox must be the address of a shared mailbox",
            "mailbox",
            "Such as invoices@example.com; remove it for the account's own mailbox",
        )
    return str(given)


def only(title: str, config: Mapping[str, Any], *names: str) -> None:
    """InvalidArgument names a setting that there is not."""
    if unknown := sorted(config.keys() - set(names)):
        raise InvalidArgument(
            f"{title} has no setting {unknown[0]!r}", unknown[0], f"There are {', '.join(names)}"
        )
