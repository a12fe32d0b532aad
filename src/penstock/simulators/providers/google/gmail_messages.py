"""Gmail's JSON of mails: parts, headers, raw MIME, and attachment ids that differ each time."""

from __future__ import annotations

import base64
import binascii
import secrets
from email.utils import format_datetime
from html import escape
from typing import Any, Literal, TypeAlias

from penstock.simulators.providers.world.clock import iso_ms
from penstock.simulators.providers.world.corpus.draft import alternative, file_part
from penstock.simulators.providers.world.mail import Message
from penstock.simulators.providers.world.mime import RFC822, Part, SentMail, parse_mail

MessageFields: TypeAlias = Literal["current", "earlier"]


def encoded(content: bytes) -> str:
    """base64url, as every body in Gmail's API."""
    return base64.urlsafe_b64encode(content).decode()


def headers_of(message: Message) -> list[dict[str, str]]:
    delivered = message.to[0] if message.to else ""
    if message.sent is not None:
        own = message.sent.body.headers()[:1]
        pairs = [("DeliveredMail-To", delivered), *message.sent.headers, *own]
        return [{"name": name, "value": value} for name, value in pairs]
    made = {
        "DeliveredMail-To": delivered,
        "From": message.sender,
        "To": ", ".join(message.to),
        "Subject": message.subject,
        "Date": format_datetime(message.date),
        "Message-ID": message.rfc_id,
    }
    if message.cc:
        made["Cc"] = ", ".join(message.cc)
    if message.answers:
        made |= {"In-Reply-To": message.answers, "References": message.answers}
    return [{"name": name, "value": value} for name, value in (made | dict(message.headers)).items()]


def sent_of(message: Message) -> SentMail:
    """The mail as it was sent; of generated conversations it is made when it is read."""
    if message.sent is not None:
        return message.sent
    headers = tuple((each["name"], each["value"]) for each in headers_of(message))
    files = [file_part(file.filename, file.mime, file.content()) for file in message.attachments]
    text = alternative(message.text, html_of(message))
    body = Part("multipart/mixed", parts=(text, *files)) if files else text
    return SentMail(headers, body)


def html_of(message: Message) -> str:
    return "<div>" + escape(message.text).replace("\n", "<br>\n") + "</div>"


def rest_message(message: Message, form: str, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """A mail in the format full, metadata, minimal or raw."""
    shown: dict[str, Any] = {
        "id": message.id,
        "threadId": message.thread_id,
        "labelIds": list(message.labels),
        "snippet": escape(message.snippet),
        "historyId": str(message.history_id),
        "internalDate": str(int(message.date.timestamp() * 1000)),
        "sizeEstimate": len(message.text) * 3 + 900,
    }
    match form:
        case "raw":
            shown["raw"] = encoded(sent_of(message).as_bytes())
        case "full":
            shown["payload"] = _payload(message)
        case "metadata":
            wanted = {name.lower() for name in only}
            kept = [each for each in headers_of(message) if not wanted or each["name"].lower() in wanted]
            shown["payload"] = {"mimeType": _payload(message)["mimeType"], "headers": kept}
    return shown


def tool_message(message: Message, form: str, fields: MessageFields) -> dict[str, Any]:
    """A mail as the MCP server shows it: no headers, no history id."""
    names = ("from", "to", "cc") if fields == "current" else ("sender", "toRecipients", "ccRecipients")
    people = dict(zip(names, (message.sender, list(message.to), list(message.cc)), strict=True))
    shown: dict[str, Any] = {
        "id": message.id,
        "snippet": message.snippet,
        "subject": message.subject,
        **people,
        "date": iso_ms(message.date),
        "labelIds": list(message.labels),
    }
    if form == "FULL_CONTENT":
        files = [(path, part) for path, part in sent_of(message).body.leaves() if not part.is_text]
        ids = [attachment_id(message, path) for path, _ in files]
        shown |= {
            "plaintextBody": message.text,
            "htmlBody": html_of(message),
            "attachmentIds": ids,
            "attachments": [
                {"id": each, "filename": part.filename, "mimeType": part.media_type}
                for each, (_, part) in zip(ids, files, strict=True)
            ],
        }
    return shown


def attachment_id(message: Message, path: tuple[int, ...]) -> str:
    """A new id each time, as Gmail's are."""
    place = ".".join(map(str, path))
    return "ANGjdJ" + encoded(f"{message.id}:{place}:{secrets.token_hex(12)}".encode())


def attachment(message: Message, given: str) -> Part | None:
    try:
        owner, place, _ = base64.urlsafe_b64decode(given.removeprefix("ANGjdJ")).decode().split(":")
    except (binascii.Error, ValueError):
        return None
    part: Part | None = sent_of(message).body if owner == message.id else None
    for number in place.split(".") if place else ():
        within = _within(part) if part is not None else ()
        part = within[int(number)] if int(number) < len(within) else None
    return part


def _within(part: Part) -> tuple[Part, ...]:
    """The parts in a part; Gmail opens attached mails, too."""
    return (parse_mail(part.content).body,) if part.media_type == RFC822 else part.parts


def _payload(message: Message) -> dict[str, Any]:
    return _part(message, sent_of(message).body, ()) | {"headers": headers_of(message)}


def _part(message: Message, part: Part, path: tuple[int, ...]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "partId": ".".join(map(str, path)),
        "mimeType": part.media_type,
        "filename": part.filename,
        "headers": [{"name": name, "value": value} for name, value in part.headers()],
        "body": {"size": len(part.content)},
    }
    if within := _within(part):
        shown["parts"] = [_part(message, each, (*path, number)) for number, each in enumerate(within)]
    if part.is_multipart:
        return shown
    if part.is_text:
        content = part.text.encode()
        shown["body"] = {"size": len(content), "data": encoded(content)}
    else:
        shown["body"]["attachmentId"] = attachment_id(message, path)
    return shown
