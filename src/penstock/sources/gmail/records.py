"""Gmail's threads as items, the same whichever binding they came through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.sources.gmail.bodies import attachments_of, header, text_of
from penstock.sources.mail.text import text_of_page, tidy
from penstock.sources.protocol import Item
from penstock.sources.reading.html_text import decoded
from penstock.sources.reading.records import RecordUnusable, required_text
from penstock.sources.reading.times import parse_time

HIDDEN: Final = frozenset({"TRASH", "SPAM", "DRAFT"})


def item_of(thread: Mapping[str, Any]) -> Item | None:
    """The thread with the mails that are neither drafts nor in the bin; None if it has no others."""
    thread_id = required_text(thread, "id")
    given = thread.get("messages")
    if not isinstance(given, list):
        raise RecordUnusable("messages", "is missing" if given is None else "is not a list")
    messages = [
        _message(each)
        for each in given
        if isinstance(each, Mapping) and not HIDDEN.intersection(each.get("labelIds") or ())
    ]
    if not messages:
        return None
    payload = {"id": thread_id, "snippet": messages[-1].get("snippet"), "messages": messages}
    return Item(
        id=thread_id,
        document_type="gmail.thread",
        payload=payload,
        version=f"{len(messages)}:{messages[-1]['id']}",
        created_at=parse_time(messages[0].get("internalDate")),
        updated_at=parse_time(messages[-1].get("internalDate")),
    )


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Labels and history ids are left out: reading a mail is no change of it."""
    shown = _rest(message) if "payload" in message else _mcp(message)
    found = {
        "id": required_text(message, "id"),
        "snippet": tidy(decoded(str(message.get("snippet") or ""))),
        **shown,
    }
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def _rest(message: Mapping[str, Any]) -> dict[str, Any]:
    payload = message["payload"]
    return {
        **{name: header(payload, name) for name in ("from", "to", "cc", "subject")},
        "internalDate": message.get("internalDate"),
        "body_text": text_of(payload),
        "attachments": attachments_of(payload),
    }


def _mcp(message: Mapping[str, Any]) -> dict[str, Any]:
    date = parse_time(message.get("date"))
    plain, html = message.get("plaintextBody"), message.get("htmlBody")
    files = message.get("attachments")
    return {
        "from": _addresses(message.get("from") or message.get("sender")),
        "to": _addresses(message.get("to") or message.get("toRecipients")),
        "cc": _addresses(message.get("cc") or message.get("ccRecipients")),
        "subject": message.get("subject"),
        "internalDate": None if date is None else str(int(date.timestamp() * 1_000)),
        "body_text": tidy(str(plain or "")) or text_of_page(str(html or "")),
        "attachments": [
            {"filename": each.get("filename"), "mimeType": each.get("mimeType")}
            for each in (files if isinstance(files, list) else ())
            if isinstance(each, Mapping)
        ],
    }


def _addresses(value: Any) -> str | None:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
