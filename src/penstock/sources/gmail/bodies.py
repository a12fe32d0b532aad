"""The text of a mail: its plain part, or its HTML part as text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.sources.mail.charsets import decode
from penstock.sources.mail.text import text_of_page, tidy

MOST_PARTS: Final = 200


def text_of(payload: Any, *, into_mails: bool = True) -> str:
    """The text of a message's payload in the format of the REST API; with that of forwarded mails, or not."""
    return tidy("\n".join(_texts(payload, "text/plain", into_mails))) or text_of_page(
        html_of(payload, into_mails=into_mails)
    )


def html_of(payload: Any, *, into_mails: bool = True) -> str:
    """Its HTML, as it is."""
    return "\n".join(_texts(payload, "text/html", into_mails))


def files_of(payload: Any) -> Iterator[Mapping[str, Any]]:
    """The parts that are attachments: all but the text of the mail itself, whatever their disposition."""
    for part in _parts(payload, into_mails=False):
        kind = str(part.get("mimeType") or "").lower()
        if kind.startswith("multipart/"):
            continue
        is_attached = (header(part, "content-disposition") or "").lower().startswith("attachment")
        if part.get("filename") or is_attached or kind not in ("text/plain", "text/html", ""):
            yield part


def _texts(payload: Any, kind: str, into_mails: bool) -> list[str]:
    return [
        _decoded(part)
        for part in _parts(payload, into_mails=into_mails)
        if not part.get("filename") and part.get("mimeType") == kind
    ]


def attachments_of(payload: Any) -> list[dict[str, Any]]:
    """Names and types of the files; their ids change with every request."""
    return [
        {"filename": part["filename"], "mimeType": part.get("mimeType")}
        for part in _parts(payload)
        if isinstance(part.get("filename"), str) and part["filename"]
    ]


def header(payload: Any, name: str) -> str | None:
    headers = payload.get("headers") if isinstance(payload, Mapping) else None
    for each in headers if isinstance(headers, list) else ():
        if isinstance(each, Mapping) and str(each.get("name", "")).lower() == name:
            return str(each.get("value", ""))
    return None


def _parts(payload: Any, *, into_mails: bool = True) -> Iterator[Mapping[str, Any]]:
    """The parts in their order, down to a limit; those of forwarded mails, too, unless told not to."""
    left = [payload]
    for _ in range(MOST_PARTS):
        if not left:
            return
        part = left.pop(0)
        if not isinstance(part, Mapping):
            continue
        yield part
        if not into_mails and str(part.get("mimeType")).lower() == "message/rfc822":
            continue
        inner = part.get("parts")
        left[:0] = inner if isinstance(inner, list) else []


def bytes_of(part: Mapping[str, Any]) -> bytes | None:
    """The bytes of a part that came with the message; None if they have to be asked for."""
    body = part.get("body")
    data = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, str):
        return None
    try:
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return None


def _decoded(part: Mapping[str, Any]) -> str:
    content = bytes_of(part)
    if content is None:
        return ""
    return decode(content, _charset(header(part, "content-type") or ""))


def _charset(content_type: str) -> str:
    _, found, rest = content_type.lower().partition("charset=")
    return rest.split(";")[0].strip().strip("\"'") or "utf-8" if found else "utf-8"
