"""Graph's JSON of a message: only the properties that are asked for are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import getaddresses, parsedate_to_datetime
from functools import lru_cache
from html import escape
from typing import Any, Final, TypeAlias

from penstock.simulators.providers.world.mime import Part, SentMail
from penstock.simulators.providers.world.outlook import StoredMail


@dataclass(frozen=True, slots=True)
class View:
    """How the client wants to see a message."""

    immutable_ids: bool = False
    text_body: bool = False
    beta: bool = False

    def id_of(self, item: StoredMail) -> str:
        return item.immutable_id if self.immutable_ids else item.id


Property: TypeAlias = Callable[[StoredMail, View], Any]


def stamp(moment: datetime) -> str:
    """A time as Graph writes it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def is_inline(part: Part) -> bool:
    return part.disposition == "inline" or (part.disposition is None and part.content_id is not None)


def has_attachments(sent: SentMail) -> bool:
    """Inline ones do not count."""
    return bool(sent.links) or any(not is_inline(part) for part in sent.files)


def people(value: str) -> list[dict[str, Any]]:
    return [{"emailAddress": {"name": name or address, "address": address}} for name, address in _read(value)]


@lru_cache(maxsize=10_000)
def _read(value: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, address) for name, address in getaddresses([value]) if address)


def body_of(sent: SentMail, *, text: bool) -> dict[str, str]:
    html = sent.html
    if html is not None and not text:
        return {"contentType": "html", "content": html}
    plain = sent.text
    if text:
        return {"contentType": "text", "content": plain}
    shown = "<html><body>" + escape(plain).replace("\n", "<br>\n") + "</body></html>"
    return {"contentType": "html", "content": shown}


def sent_at(sent: SentMail, received: datetime) -> datetime:
    try:
        return parsedate_to_datetime(sent.header("Date")).astimezone(UTC)
    except ValueError:
        return received


def _first(value: str) -> dict[str, Any] | None:
    return next(iter(people(value)), None)


def _preview(item: StoredMail, _: View) -> str:
    return " ".join(item.sent.text.split())[:255]


def _headers(item: StoredMail, _: View) -> list[dict[str, str]]:
    own = item.sent.body.headers()[:1]
    return [{"name": name, "value": value} for name, value in (*item.sent.headers, *own)]


PROPERTIES: Final[Mapping[str, Property]] = {
    "createdDateTime": lambda item, _: stamp(item.received),
    "lastModifiedDateTime": lambda item, _: stamp(item.received),
    "changeKey": lambda item, _: item.etag[3:-1],
    "categories": lambda item, _: [],
    "receivedDateTime": lambda item, _: stamp(item.received),
    "sentDateTime": lambda item, _: stamp(sent_at(item.sent, item.received)),
    "hasAttachments": lambda item, _: has_attachments(item.sent),
    "internetMessageId": lambda item, _: item.sent.header("Message-ID"),
    "subject": lambda item, _: item.sent.header("Subject"),
    "bodyPreview": _preview,
    "importance": lambda item, _: "normal",
    "parentFolderId": lambda item, _: item.folder.id,
    "conversationId": lambda item, _: "AAQkAD" + item.conversation,
    "isRead": lambda item, _: item.read,
    "isDraft": lambda item, _: item.folder.well_known == "drafts",
    "webLink": lambda item, _: f"https://outlook.office365.com/owa/?ItemID={item.id}",
    "body": lambda item, view: body_of(item.sent, text=view.text_body),
    "sender": lambda item, _: _first(item.sent.header("Sender") or item.sent.header("From")),
    "from": lambda item, _: _first(item.sent.header("From")),
    "toRecipients": lambda item, _: people(item.sent.header("To")),
    "ccRecipients": lambda item, _: people(item.sent.header("Cc")),
    "bccRecipients": lambda item, _: [],
    "replyTo": lambda item, _: people(item.sent.header("Reply-To")),
}
ON_REQUEST: Final[Mapping[str, Property]] = {"internetMessageHeaders": _headers}
KNOWN: Final = frozenset({"id", *PROPERTIES, *ON_REQUEST})


def message(item: StoredMail, view: View, select: Iterable[str] | None = None) -> dict[str, Any]:
    """A message with these properties, by default all except those that come only on request."""
    shown: dict[str, Any] = {"@odata.etag": item.etag, "id": view.id_of(item)}
    invited = next((part for _, part in item.sent.body.leaves() if part.media_type == "text/calendar"), None)
    if invited is not None:
        shown["@odata.type"] = "#microsoft.graph.eventMessageRequest"
    for name in PROPERTIES if select is None else select:
        if name != "id":
            shown[name] = (PROPERTIES.get(name) or ON_REQUEST[name])(item, view)
    if invited is not None and select is None:
        shown["meetingMessageType"] = "meetingRequest"
    return shown


def removed(shown_id: str, reason: str) -> dict[str, Any]:
    return {"@odata.type": "#microsoft.graph.message", "id": shown_id, "@removed": {"reason": reason}}
