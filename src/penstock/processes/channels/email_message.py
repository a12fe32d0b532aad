"""Builds the bytes and recipients of a mail from the before handler's payload."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.names import ChannelName

_NAMED: Final = re.compile(r"^([^<>]*)<([^<>]+)>$")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MIME_TYPE: Final = re.compile(r"^([\w.+-]+)/([\w.+-]+)$", re.ASCII)
_PLAIN_ONLY: Final = frozenset({"multipart", "message"})  # these contain parts of a mail, not a file's bytes
_NOT_IN_LOCAL_PART: Final = re.compile(r'[\s<>()\[\],;:\\"@]')
# The email package parses and folds headers in quadratic time, so their length is limited.
_LONGEST_LINE: Final = 998
_LONGEST_SUBJECT: Final = 2_000
_LONGEST_NAME: Final = 200
_MOST_RECIPIENTS: Final = 1_000
_LARGE_BODY: Final = 100_000
# Seven bits work with every server; only non-ASCII addresses need SMTPUTF8.
_SEVEN_BITS: Final = SMTP.clone(cte_type="7bit")


class EmailAttachment(BaseModel):
    model_config = ConfigDict(frozen=True)

    filename: str
    mime_type: str | None = None
    content_base64: str


class EmailRequest(BaseModel):
    """The before handler's payload."""

    model_config = ConfigDict(frozen=True)

    from_address: str | None = None
    to_addresses: tuple[str, ...] = ()
    cc_addresses: tuple[str, ...] = ()
    bcc_addresses: tuple[str, ...] = ()
    reply_to: str | None = None
    subject: str
    body_text: str | None = None
    body_html: str | None = None
    message_id: str
    attachments: tuple[EmailAttachment, ...] = ()

    def is_large(self) -> bool:
        """Whether building the mail takes long enough to use a thread."""
        recipients = len(self.to_addresses) + len(self.cc_addresses) + len(self.bcc_addresses)
        return recipients > 50 or len(self.body_text or "") + len(self.body_html or "") > _LARGE_BODY


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail ready to be sent."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    utf8: bool
    """An address is not ASCII, which needs SMTPUTF8."""


def compose(request: EmailRequest, default_from: str | None) -> OutgoingMail:
    """The mail; a final ProviderFailed for what can never be sent, such as a line break in a header."""
    wanted = sum(len(who) for who in (request.to_addresses, request.cc_addresses, request.bcc_addresses))
    if wanted > _MOST_RECIPIENTS:
        raise refused("to_addresses", f"there are {wanted} recipients, more than {_MOST_RECIPIENTS}")
    message = EmailMessage(policy=_SEVEN_BITS)
    sender = _address("from_address", request.from_address or default_from or "")
    to, cc, bcc = (
        [_address(field, raw) for raw in getattr(request, field)]
        for field in ("to_addresses", "cc_addresses", "bcc_addresses")
    )
    if not (to or cc or bcc):
        raise refused("to_addresses", "there is no recipient")
    message["From"] = sender
    # A mail needs a To header; Bcc recipients must not see each other.
    message["To"] = to or "undisclosed-recipients:;"
    if cc:
        message["Cc"] = cc
    if request.reply_to:
        message["Reply-To"] = _address("reply_to", request.reply_to)
    message["Subject"] = _line("subject", request.subject, _LONGEST_SUBJECT)
    message["Date"] = format_datetime(datetime.now(UTC))
    try:
        message["Message-ID"] = _line("message_id", request.message_id)
    except ProviderFailed:
        raise
    except Exception as bad:  # as with addresses; nested parentheses raise RecursionError
        raise refused("message_id", "it is not a message id") from bad
    _fill(message, request)
    recipients = tuple(dict.fromkeys(address.addr_spec for address in (*to, *cc, *bcc)))
    utf8 = not "".join((sender.addr_spec, *recipients)).isascii()
    policy = _SEVEN_BITS.clone(utf8=True) if utf8 else _SEVEN_BITS
    return OutgoingMail(sender.addr_spec, recipients, message.as_bytes(policy=policy), utf8)


def refused(field: str, reason: str, remedy: str = "Correct the message and send it again") -> ProviderFailed:
    return ProviderFailed(ChannelName.EMAIL.value, f"{field}: {reason}", remedy, retriable=False)


def _fill(message: EmailMessage, request: EmailRequest) -> None:
    if request.body_text is not None:
        message.set_content(request.body_text)
        if request.body_html is not None:
            message.add_alternative(request.body_html, subtype="html")
    elif request.body_html is not None:
        message.set_content(request.body_html, subtype="html")
    else:
        raise refused("body_text", "there is neither text nor HTML")
    for attachment in request.attachments:
        main, sub = _mime_type(attachment.mime_type)
        message.add_attachment(
            _decoded(attachment.content_base64),
            maintype=main,
            subtype=sub,
            filename=_line("filename", attachment.filename),
        )


def _address(field: str, raw: str) -> Address:
    """An address with or without a display name; whatever the name contains, it is one recipient."""
    named = _NAMED.match(_line(field, raw).strip())
    name, spec = (named[1].strip(), named[2].strip()) if named else ("", raw.strip())
    if len(name) > _LONGEST_NAME:
        raise refused(field, f"the name before the address is longer than {_LONGEST_NAME} characters")
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1]
    local, at, domain = spec.rpartition("@")
    if not (local and at and domain) or _NOT_IN_LOCAL_PART.search(local):
        raise refused(field, f"{raw!r} is not an address")
    try:
        domain = domain if domain.isascii() else domain.encode("idna").decode()
        # The class parses ASCII only and rejects the rest, which username and domain accept.
        if local.isascii():
            return Address(name, addr_spec=f"{local}@{domain}")
        Address(addr_spec=f"x@{domain}")
        return Address(name, username=local, domain=domain)
    except Exception as bad:  # the parser raises IndexError as well as its own classes
        raise refused(field, f"{raw!r} is not an address") from bad


def _line(field: str, text: str, longest: int = _LONGEST_LINE) -> str:
    """One line: a line break would start another header."""
    if len(text) > longest:
        raise refused(field, f"it has {len(text)} characters, more than {longest}")
    if _CONTROL.search(text):
        raise refused(field, "it contains a line break or control character")
    return text


def _mime_type(text: str | None) -> Iterable[str]:
    named = _MIME_TYPE.match(text or "")
    if named is None or named[1].lower() in _PLAIN_ONLY:
        return ("application", "octet-stream")
    return named.groups()


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as bad:
        raise refused("content_base64", f"it is not base64 ({bad})") from None
