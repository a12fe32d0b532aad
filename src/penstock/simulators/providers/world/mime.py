"""A mail as a tree of MIME parts, written to bytes and read from them."""

from __future__ import annotations

import base64
import email
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from email.header import Header, decode_header, make_header
from email.message import Message as ParsedMessage
from email.policy import compat32
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

Disposition: TypeAlias = Literal["attachment", "inline"]

RFC822: Final = "message/rfc822"
_CRLF: Final = compat32.clone(linesep="\r\n")


@dataclass(frozen=True, slots=True)
class Part:
    """A part with its decoded content, or a multipart with its parts."""

    media_type: str
    content: bytes = b""
    parts: tuple[Part, ...] = ()
    filename: str = ""
    disposition: Disposition | None = None
    content_id: str | None = None
    """Without angle brackets."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Of the Content-Type, such as charset or method."""

    @property
    def is_multipart(self) -> bool:
        return self.media_type.startswith("multipart/")

    @property
    def is_message(self) -> bool:
        """An attached mail or a delivery status, which is never encoded."""
        return self.media_type.startswith("message/")

    @property
    def is_text(self) -> bool:
        """Part of the mail's own text, an invitation included, and not an attachment."""
        return self.media_type.startswith("text/") and not self.filename and self.disposition != "attachment"

    @property
    def text(self) -> str:
        """The content in its charset; Latin-1 if nobody knows that charset."""
        charset = dict(self.parameters).get("charset", "utf-8")
        try:
            return self.content.decode(charset, "replace")
        except LookupError:
            return self.content.decode("latin-1")

    def headers(self, boundary: str = "") -> list[tuple[str, str]]:
        """The part's own headers; file names are not encoded yet."""
        kind = self.media_type + "".join(f'; {name}="{value}"' for name, value in self.parameters)
        if boundary:
            kind += f'; boundary="{boundary}"'
        if self.filename:
            kind += f'; name="{self.filename}"'
        made = [("Content-Type", kind)]
        if self.disposition is not None:
            name = f'; filename="{self.filename}"' if self.filename else ""
            made.append(("Content-Disposition", self.disposition + name))
        if self.content_id is not None:
            made.append(("Content-ID", f"<{self.content_id}>"))
        if not self.is_multipart and not self.is_message:
            made.append(("Content-Transfer-Encoding", "base64"))
        return made

    def leaves(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Part]]:
        """The parts that are not multiparts, each with where it is in the tree."""
        if not self.is_multipart:
            yield path, self
        for number, part in enumerate(self.parts):
            yield from part.leaves((*path, number))


@dataclass(frozen=True, slots=True)
class Link:
    """A file that stays in the cloud; the mail only names its address."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class SentMail:
    """A mail as its sender sent it; `raw` are the bytes it was read from, if it was."""

    headers: tuple[tuple[str, str], ...]
    body: Part
    links: tuple[Link, ...] = ()
    raw: bytes | None = None

    def header(self, name: str, default: str = "") -> str:
        wanted = name.lower()
        return next((value for each, value in self.headers if each.lower() == wanted), default)

    def with_headers(self, changed: Mapping[str, str]) -> SentMail:
        """A copy with these headers set; an empty value removes one."""
        names = {name.lower() for name in changed}
        kept = [pair for pair in self.headers if pair[0].lower() not in names]
        return replace(self, headers=(*kept, *((n, v) for n, v in changed.items() if v)), raw=None)

    @property
    def text(self) -> str:
        """The plain text; empty if there is only HTML."""
        return next((each.text for _, each in self.body.leaves() if _is_body(each, "text/plain")), "")

    @property
    def html(self) -> str | None:
        return next((each.text for _, each in self.body.leaves() if _is_body(each, "text/html")), None)

    @property
    def files(self) -> list[Part]:
        """The parts that are not the mail's own text: what a mail program shows as attachments."""
        return [part for _, part in self.body.leaves() if not part.is_text]

    def as_bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        # A mail within a mail needs other boundaries than the one around it.
        name = f"{zlib.crc32(repr(self.headers).encode()):08x}"
        lines = [f"{each}: {_encoded(each, value)}" for each, value in self.headers]
        return "\r\n".join([*lines, "MIME-Version: 1.0", ""]).encode() + _written(self.body, name)


def parse_mail(raw: bytes) -> SentMail:
    """A mail from its bytes."""
    parsed = email.message_from_bytes(raw)
    own = ("content-type", "content-transfer-encoding", "content-disposition", "content-id", "mime-version")
    headers = tuple((name, _decoded(value)) for name, value in parsed.items() if name.lower() not in own)
    return SentMail(headers, _parsed(parsed), raw=raw)


def _is_body(part: Part, media_type: str) -> bool:
    return part.is_text and part.media_type == media_type


def _written(part: Part, name: str) -> bytes:
    """The part's headers, an empty line and its content. Boundaries come from the place in the tree."""
    boundary = f"=_part_{name}_=" if part.is_multipart else ""
    head = "".join(f"{each}: {_safe(part, each, value)}\r\n" for each, value in part.headers(boundary))
    begun = (head + "\r\n").encode()
    if not part.is_multipart:
        return begun + (part.content if part.is_message else _lines(part.content))
    cut = f"--{boundary}".encode()
    within = b"".join(
        cut + b"\r\n" + _written(each, f"{name}.{number}") + b"\r\n" for number, each in enumerate(part.parts)
    )
    return begun + within + cut + b"--\r\n"


def _lines(content: bytes) -> bytes:
    return base64.encodebytes(content).replace(b"\n", b"\r\n")


def _safe(part: Part, header: str, value: str) -> str:
    """File names outside ASCII by RFC 2231."""
    if value.isascii():
        return value
    shown, encoded = f'="{part.filename}"', f"*=utf-8''{quote(part.filename)}"
    return value.replace(shown, encoded) if part.filename else _encoded(header, value)


def _encoded(name: str, value: str) -> str:
    if value.isascii():
        return value
    shown, bracket, address = value.rpartition(" <")
    if bracket and address.endswith(">") and address.isascii():
        return f"{Header(shown, 'utf-8', header_name=name).encode()} <{address}"
    return Header(value, "utf-8", header_name=name).encode(linesep="\r\n")


def _decoded(value: object) -> str:
    text = " ".join(str(value).split())
    try:
        return str(make_header(decode_header(text)))
    except (LookupError, ValueError):
        return text


def _parsed(message: ParsedMessage) -> Part:
    kind, given = message.get_content_type(), message.get_content_disposition()
    payload = message.get_payload()
    parts: tuple[Part, ...] = ()
    content = b""
    if message.is_multipart() and kind.startswith("message/") and isinstance(payload, list):
        # An attached mail, or the blocks of a delivery status.
        blocks = [each for each in payload if isinstance(each, ParsedMessage)]
        content = b"".join(
            each.as_bytes(policy=_CRLF) for each in blocks if each.items() or each.get_payload()
        )
    elif message.is_multipart() and isinstance(payload, list):
        parts = tuple(_parsed(each) for each in payload if isinstance(each, ParsedMessage))
        kind = kind if kind.startswith("multipart/") else "multipart/mixed"
    else:
        decoded = message.get_payload(decode=True)
        content = decoded if isinstance(decoded, bytes) else b""
        if kind.startswith("multipart/"):
            kind = "text/plain"  # it promises parts and has none
    shown = message.get_params(failobj=[])[1:]
    left_out = ("boundary", "name")
    return Part(
        kind,
        content,
        parts,
        _decoded(message.get_filename() or ""),
        given if given in ("attachment", "inline") else None,  # type: ignore[arg-type]  # one of the two
        message.get("content-id", "").strip("<> ") or None,
        tuple((name, str(value)) for name, value in shown if name.lower() not in left_out),
    )
