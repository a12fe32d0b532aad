"""The parts of a mail from its BODYSTRUCTURE: what is its text, and what is attached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from penstock.sources.imap.values import Value, number_of
from penstock.sources.mail.fields import bare_id, line
from penstock.sources.mail.header_text import parameter, plain
from penstock.sources.mail.message import MOST_ATTACHMENTS

MOST_PARTS: Final = 5 * MOST_ATTACHMENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class MailPart:
    """One part; `section` is its number, such as 2.1, `size` how many bytes it has as it is encoded."""

    section: str
    media_type: str
    filename: str
    charset: str | None
    encoding: str
    size: int
    disposition: str | None
    content_id: str | None

    @property
    def is_text(self) -> bool:
        """MailPart of what people read when they open the mail."""
        return (
            self.media_type in ("text/plain", "text/html")
            and not self.filename
            and self.disposition != "attachment"
        )

    @property
    def content_size(self) -> int:
        """How many bytes it has, about: base64 with its line ends is longer than the content."""
        return self.size * 57 // 78 if self.encoding == "base64" else self.size


def parts_of(structure: Value) -> Iterator[MailPart]:
    """The parts that have content, in their order; those of an attached mail belong to that mail."""
    if not isinstance(structure, list):
        return
    left: list[tuple[str, list[Value]]] = [("", structure)]
    for _ in range(MOST_PARTS):
        if not left:
            return
        section, node = left.pop()
        children = _children(node)
        if children:
            prefix = f"{section}." if section else ""
            numbered = [(f"{prefix}{number}", each) for number, each in enumerate(children, 1)]
            left += reversed(numbered)
        elif node and isinstance(node[0], bytes):
            yield _part(section or "1", node)


def _children(node: list[Value]) -> list[list[Value]]:
    """The parts of a multipart, which come before its subtype."""
    children = []
    for each in node:
        if not isinstance(each, list):
            break
        children.append(each)
    return children


def _part(section: str, node: list[Value]) -> MailPart:
    kind, subtype = _lower(node, 0), _lower(node, 1)
    media_type = f"{kind}/{subtype}"
    parameters = _parameters(_at(node, 2))
    # After the seven fields of every part come the lines of a text, or envelope, body and lines of a mail;
    # then its MD5, and the disposition.
    extension = 7 + (1 if kind == "text" else 3 if media_type == "message/rfc822" else 0)
    disposition = _at(node, extension + 1)
    shown = _lower(disposition, 0) if isinstance(disposition, list) else ""
    named = _parameters(_at(disposition, 1)) if isinstance(disposition, list) else {}
    filename = parameter(named, "filename") or parameter(parameters, "name")
    if media_type == "message/rfc822" and not filename:
        filename = _subject(_at(node, 7))
    return MailPart(
        section=section,
        media_type=media_type,
        filename=filename.replace("/", "_").replace("\\", "_"),
        charset=parameters.get("charset"),
        encoding=_lower(node, 5),
        size=number_of(_at(node, 6)) or 0,
        disposition=shown or None,
        content_id=bare_id(_text(_at(node, 3))),
    )


def _subject(envelope: Value) -> str:
    return plain(_text(_at(envelope, 1))) if isinstance(envelope, list) else ""


def _parameters(value: Value) -> Mapping[str, str]:
    if not isinstance(value, list):
        return {}
    return {_text(value[at]).lower(): _text(value[at + 1]) for at in range(0, len(value) - 1, 2)}


def _at(node: list[Value], index: int) -> Value:
    return node[index] if index < len(node) else None


def _lower(node: list[Value], index: int) -> str:
    return line(_text(_at(node, index))).lower()


def _text(value: Value) -> str:
    if not isinstance(value, bytes):
        return ""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
