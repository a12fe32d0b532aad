"""Graph's JSON of attachments: files, attached mails, and links to files in the cloud."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.microsoft import odata, shapes
from penstock.simulators.providers.microsoft.errors import error, item_not_found
from penstock.simulators.providers.microsoft.shapes import View
from penstock.simulators.providers.world.mime import RFC822, Link, Part, parse_mail
from penstock.simulators.providers.world.outlook import StoredMail

_DERIVED: Final = "microsoft.graph.fileAttachment/"
_SHARED: Final = ("id", "lastModifiedDateTime", "name", "contentType", "size", "isInline")
KNOWN: Final = frozenset(
    {*_SHARED, *(_DERIVED + name for name in ("contentId", "contentBytes", "contentLocation"))}
)
Attached: TypeAlias = Part | Link


def attached(item: StoredMail) -> list[Attached]:
    return [*item.sent.files, *item.sent.links]


def attachment_id(item: StoredMail, view: View, number: int) -> str:
    """It begins with the id of its message, so it changes with it."""
    mark = hashlib.sha256(f"{item.number}/{number}".encode()).hexdigest()[:16]
    return f"{view.id_of(item).rstrip('=')}BEgAQA{mark}{number:03d}="


def found(item: StoredMail, view: View, given: str) -> tuple[int, Attached]:
    for number, each in enumerate(attached(item)):
        if attachment_id(item, view, number) == given:
            return number, each
    raise item_not_found()


def described(
    item: StoredMail,
    view: View,
    number: int,
    one: Attached,
    select: Sequence[str] | None,
    *,
    expand: bool = False,
) -> dict[str, Any]:
    """One attachment; without a $select with its content."""
    kind = _kind(one)
    part = one if isinstance(one, Part) else None
    shown: dict[str, Any] = {
        "id": attachment_id(item, view, number),
        "lastModifiedDateTime": shapes.stamp(item.received),
        "name": _name(one),
        "contentType": part.media_type if part is not None and kind == "file" else None,
        "size": _size(one),
        "isInline": part is not None and shapes.is_inline(part),
    }
    if select is not None:
        shown = {name: value for name, value in shown.items() if name == "id" or name in select}
    if kind == "file" and part is not None:
        wanted = ("contentId", "contentLocation", "contentBytes")
        for name in wanted if select is None else [n for n in wanted if _DERIVED + n in select]:
            content = base64.b64encode(part.content).decode() if name == "contentBytes" else None
            shown[name] = part.content_id if name == "contentId" else content
    if kind == "item" and expand and part is not None:
        shown["item"] = _item(part)
    if isinstance(one, Link) and view.beta:
        shown |= {"sourceUrl": one.url, "providerType": "other", "permission": "view"}
    type_name = f"#microsoft.graph.{kind}Attachment"
    media = {"@odata.mediaContentType": part.media_type} if kind == "file" and part is not None else {}
    return {"@odata.type": type_name, **media, **shown}


def listing(
    item: StoredMail, view: View, select: Sequence[str] | None, *, expand: bool
) -> list[dict[str, Any]]:
    return [
        described(item, view, number, one, select, expand=expand) for number, one in enumerate(attached(item))
    ]


def selection(value: str | None) -> tuple[str, ...] | None:
    return odata.selected(value, KNOWN, "attachment")


def content(one: Attached) -> Response:
    """The bytes of an attachment; of an attached mail, its MIME."""
    if isinstance(one, Link):
        return error(405, "ErrorInvalidOperation", "The content of a reference attachment cannot be read.")
    kind = "text/plain" if one.media_type == RFC822 else one.media_type
    return Response(one.content, media_type=kind)


def single(
    item: StoredMail, view: View, number: int, one: Attached, select: str | None, expand: str | None
) -> Response:
    shown = described(item, view, number, one, selection(select), expand=wants_item(expand))
    return JSONResponse(shown)


def wants_item(expand: str | None) -> bool:
    return "itemattachment/item" in (expand or "").lower()


def _kind(one: Attached) -> str:
    if isinstance(one, Link):
        return "reference"
    return "item" if one.media_type == RFC822 else "file"


def _name(one: Attached) -> str:
    if isinstance(one, Link):
        return one.name
    if one.media_type == RFC822:  # Outlook shows an attached mail by its subject
        return parse_mail(one.content).header("Subject") or one.filename or "Untitled"
    return one.filename or f"ATT{len(one.content) % 100_000:05d}.bin"


def _size(one: Attached) -> int:
    """More than the content: Exchange counts the attachment's properties, too."""
    return 430 if isinstance(one, Link) else len(one.content) + 2 * len(one.filename) + 154


def _item(part: Part) -> dict[str, Any]:
    sent = parse_mail(part.content)
    return {
        "@odata.type": "#microsoft.graph.message",
        "subject": sent.header("Subject"),
        "internetMessageId": sent.header("Message-ID"),
        "from": next(iter(shapes.people(sent.header("From"))), None),
        "toRecipients": shapes.people(sent.header("To")),
        "hasAttachments": shapes.has_attachments(sent),
        "body": shapes.body_of(sent, text=False),
    }
