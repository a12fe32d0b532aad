"""Every regular expression and parser that meets outside bytes on an event loop, with its worst input."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message
from itertools import product
from typing import Any, Final

import h11
import httpx2
from python_multipart.exceptions import FormParserError
from starlette.requests import Request

from penstock.api import account, envelope, idempotency
from penstock.api.bodies import refuse_unacceptable
from penstock.api.header_parameters import filename_of, parameters
from penstock.api.host_check import HostCheck
from penstock.api.identity import session_cookie
from penstock.api.json_values import parse_object
from penstock.api.login_pages import safe_next
from penstock.api.multipart import UploadForm, clean_filename, is_form
from penstock.api.request_head import BoundedConnection
from penstock.console.bundle import Bundle
from penstock.embed.remote import embedder
from penstock.embed.remote.cohere import CohereWire
from penstock.embed.remote.cohere import model_of as cohere_model
from penstock.embed.remote.voyage import VoyageWire
from penstock.embed.remote.voyage import model_of as voyage_model
from penstock.errors import PenstockError
from penstock.model import media
from penstock.model.document_signs import document_sign, has_amount, has_date_or_reference
from penstock.net import h11_patterns, outbound
from penstock.net.bearer import api_key
from penstock.net.waiting import retry_after
from penstock.observe import cleaning, formats, redaction
from penstock.observe.payloads import redacted
from penstock.pipeline.classify import local as local_classifier
from penstock.pipeline.classify.to_classify import LONGEST_TEXT as LONGEST_CLASSIFIED
from penstock.pipeline.classify.to_classify import ToClassify
from penstock.pipeline.parse import docling
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.result import primary
from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.email_message import EmailAttachment, EmailRequest, compose
from penstock.search.answer import Snippet
from penstock.sources.mail.message import LONGEST_TEXT, MOST_ATTACHMENTS, Mail, MailAttachment
from penstock.sources.mail.rules.judge import judge
from penstock.webhooks.signature import verify

HEADER: Final = 64_000
"""The longest header there can be."""
BODY: Final = 1_000_000


def texts(size: int, *pieces: str) -> Iterable[str]:
    """Each piece repeated to the size, alone, after an opening, and before an end that fits nothing."""
    for piece, opening, end in product(pieces, ("", "a;"), ("", "\x0b")):
        yield opening + piece * (size // len(piece)) + end


COMMON: Final = (
    *(
        ";",
        '"',
        "\\",
        '\\"',
        ";a=",
        ';a="',
        ";a=\\",
        " ",
        "\t",
        "\n",
        "\r\n",
        "=",
        ",",
        "a",
        "0",
        ":",
        "@",
        "://:",
    ),
    *(
        "<",
        "<!--x-->",
        "<p ",
        "<p>",
        "[",
        "[a](",
        "](",
        "**",
        "*a",
        "|",
        "|-",
        "-",
        "- ",
        "#",
        "`",
        "(",
        "%",
        "%2",
    ),
    *(
        "é",
        "é ",
        "a.",
        "a@",
        "token=",
        "token ",
        "bearer ",
        "authorization: ",
        "payload=",
        "aB",
        "../",
        "\x00",
        "'",
    ),
)
"""What patterns stumble over: separators, quotes, openings without an end, ambiguous things."""


def each(call: Callable[[str], object], size: int, *pieces: str) -> Callable[[], None]:
    """The call with every hostile text; a refusal is an answer."""

    def run() -> None:
        for text in texts(size, *(pieces or COMMON)):
            with suppress(
                PenstockError, ValueError, RecursionError, FormParserError, h11.RemoteProtocolError
            ):
                call(text)

    return run


def _sniff(text: str) -> None:
    head = text.encode("utf-8", "replace")[: media.HEAD_BYTES * 8]
    for name in (None, "a.txt", "a.eml"):
        media.sniff(head, filename=name)
    media.sniff(b"From: a\nTo: b\n" + head)
    media.sniff(b"<?xml " + head)
    media.sniff(b"%PDF" + head)


def _zip() -> None:
    entry = b"PK\x03\x04" + bytes(4) + b"\x08\x00" + bytes(16) + b"\x13\x00\x00\x00" + b"[Content_Types].xml"
    media.sniff(entry * 1_300)
    media.sniff(b"PK\x03\x04" * 16_000)
    media.sniff(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"_" * HEADER)


def _server_head(text: str) -> None:
    connection = BoundedConnection()
    line = text.replace("\r", "").encode("latin-1", "replace")
    connection.receive_data(b"GET / HTTP/1.1\r\nHost: a\r\nX:" + line[:64_000] + b"\r\n\r\n")
    connection.next_event()


def _server_chunk(text: str) -> None:
    connection = BoundedConnection()
    connection.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.next_event()
    connection.receive_data(b"1;" + text.encode("latin-1", "replace") + b"\nx\r\n")
    connection.next_event()


def _trickled_head() -> None:
    connection = BoundedConnection()
    connection.receive_data(b"GET / HTTP/1.1\r\nX: ")
    for _ in range(30_000):
        connection.receive_data(b"a")
        connection.next_event()


def _client_head(text: str) -> None:
    connection = h11.Connection(h11.CLIENT, 100_000)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    line = text.replace("\r", "").replace("\n", "").encode("latin-1", "replace")
    connection.receive_data(b"HTTP/1.1 200 OK\r\nX:" + line + b"\r\n\r\n")
    connection.next_event()


def _form(body: bytes, kind: str = "multipart/form-data; boundary=x") -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    async def read() -> None:
        form = UploadForm(kind, pieces(), digest=True)
        await form.begin()
        async for _ in form.content():
            pass

    asyncio.run(read())


def _form_bodies() -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
    for filler in (b"\r", b"\n", b"\r\n", b"\r\n-", b"\r\n--", b"\r\n--y", b"-", b"--x", b"\r\n--x\r"):
        for before in (b"", b"--x\r\n", part):
            with suppress(PenstockError):
                _form(before + filler * (BODY // len(filler)))


def _part_head(text: str) -> None:
    line = text.replace("\r", "").replace("\n", "")[:4_000].encode()
    _form(b"--x\r\nContent-Disposition: form-data; name=file; filename=" + line + b"\r\n\r\na\r\n--x--\r\n")


def _mail(text: str) -> None:
    sound: dict[str, Any] = {
        "subject": "a",
        "message_id": "<a@b>",
        "from_address": "a@b.example",
        "reply_to": "a@b.example",
    }
    for field in sound:
        for size in (200, 990, len(text)):
            with suppress(ProviderFailed):
                request = EmailRequest(
                    to_addresses=("c@d.example",), body_text="a", **{**sound, field: text[:size]}
                )
                compose(request, None)
    for address in (
        text[:190] + " <a@b.example>",
        text[:900] + "@b.example",
        "a@" + text[:900],
        f"a <{text}>",
    ):
        with suppress(ProviderFailed):
            compose(EmailRequest(to_addresses=(address,), body_text="a", **sound), None)
    for name, kind in ((text[:990], text), (text, "text/plain")):
        with suppress(ProviderFailed):
            attachment = EmailAttachment(filename=name, mime_type=kind, content_base64="YQ==")
            compose(
                EmailRequest(
                    to_addresses=("c@d.example",), body_text="a", attachments=(attachment,), **sound
                ),
                None,
            )


def _signature(text: str) -> None:
    now = datetime.now(UTC)
    sound = {
        "webhook-id": "a",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": "v1,YQ==",
    }
    for name in sound:
        with suppress(PenstockError):
            verify(["whsec_" + base64.b64encode(bytes(32)).decode()], {**sound, name: text}, b"", now)


def _accept(text: str) -> None:
    scope = {"type": "http", "headers": [(b"accept", text.encode("latin-1", "replace"))]}
    refuse_unacceptable(Request(scope))


def _host(text: str) -> None:
    _HOSTS._is_ours(text)


async def _nobody(*_: object) -> None: ...


_HOSTS: Final = HostCheck(_nobody, listed=None, host="localhost")


def _log(text: str) -> None:
    redaction.scrub(text)
    redaction.hides(text, text)
    cleaning.clean_fields(
        {"error": ValueError(text), "value": [text] * 50, text[:1_000]: text}, with_traceback=True
    )
    formats.escape(text)
    formats._quote(text)


_CLIENT: Final = outbound.open_client()


def _cookies(text: str) -> None:
    request = httpx2.Request("GET", "http://a.example/")
    line = text.replace("\n", "").replace("\r", "")
    with suppress(UnicodeError):
        headers = {"Set-Cookie": f"a=b; expires={line}", "Content-Type": "a/b"}
        _CLIENT.cookies.extract_cookies(httpx2.Response(200, headers=headers, request=request))


def _docling(text: str) -> None:
    docling._parsed({"status": "success", "document": {"md_content": f"words\n\n| a |\n{text}\n\n- {text}"}})
    primary(text)
    cleaned_line(text)


def _json() -> None:
    for text in (
        "[" * BODY,
        '{"a":' * (BODY // 5),
        '"' + "\\u0000" * (BODY // 6),
        "1" * BODY,
        '{"a": 1e' + "9" * BODY,
    ):
        with suppress(PenstockError):
            parse_object(text, "metadata")
        with suppress(ValueError, RecursionError):
            json.loads(text)


def _vendors(text: str) -> None:
    for wire in (CohereWire(cohere_model(None), "k"), VoyageWire(voyage_model(None), "k")):
        with suppress(ValueError):
            wire.read(text.encode("utf-8", "replace"))
    embedder._same("text-embedding", "text-embedding-1" + text)


def _content_type(text: str) -> None:
    """FastAPI asks the email package for the type of a JSON body, without its parameters."""
    message = Message()
    message["content-type"] = text.replace("\n", "").replace("\r", "")
    message.get_content_maintype()
    message.get_content_subtype()


def _rules(text: str) -> None:
    """A mail as long as a mailbox makes it; the texts beside the body are not cut there."""
    each = MailAttachment(part="2", filename=text, media_type=text, size=1)
    judge(
        Mail(
            id="1",
            message_id=None,
            thread_id=None,
            sender=text,
            sender_name="",
            to=(text,),
            cc=(),
            subject=text,
            received_at=None,
            headers=dict.fromkeys(("list-id", "precedence", "content-type", "auto-submitted"), text),
            folder=text,
            text=text,
            attachments=(each,) * MOST_ATTACHMENTS,
        )
    )


SIGNS: Final = ("_AMOUNT", "_CURRENCY", "_PRICE", "_DATE", "_REFERENCE", "_FIGURE", "_COLUMNS", "_TO_SIGN")


def _classified(text: str) -> None:
    asked = ToClassify.of(filename="", subject=text, sender="", media_type="", size=0, text=text)
    local_classifier._unsure(asked)
    ToClassify.of(filename="", subject="", sender="", media_type="", size=0, text=f"a\nFrom: {text}")
    has_amount(text)
    has_date_or_reference(text)
    document_sign(text)


_forms_content_type = each(lambda text: _form(b"", "multipart/form-data; " + text.replace("\n", "")), HEADER)

ON_THE_LOOP: Final[dict[str, Callable[[], None]]] = {
    "penstock.pipeline.classify.local._WORD": each(_classified, LONGEST_CLASSIFIED),
    "penstock.pipeline.classify.to_classify._HEAD": each(_classified, LONGEST_CLASSIFIED),
    **{
        f"penstock.model.document_signs.{name}": each(
            _classified, LONGEST_CLASSIFIED, "1", "1,", "1.2", "1 ", "EUR ", "1,23 EU", "a  ", "a ;", "_"
        )
        for name in SIGNS
    },
    "penstock.api.account._first_day": each(account._first_day, HEADER),
    "penstock.api.connection:h11": each(_server_chunk, HEADER),
    "penstock.api.envelope._REQUEST_ID": each(
        lambda text: envelope._request_id({"headers": [(b"x-request-id", text.encode())]}), HEADER
    ),
    "penstock.api.header_parameters._ESCAPED": each(
        lambda text: filename_of(parameters(f'a; filename="{text}')), HEADER
    ),
    "penstock.api.header_parameters._PARAMETER": each(parameters, HEADER),
    "penstock.api.idempotency._KEY": each(idempotency._KEY.fullmatch, HEADER),
    "penstock.api.login_pages._NEXT": each(safe_next, HEADER, "/", "/a", "/\\", "%2f"),
    "penstock.api.multipart._CONTROLS": each(clean_filename, HEADER),
    "penstock.api.multipart:python_multipart.exceptions": _forms_content_type,
    "penstock.api.multipart:python_multipart.multipart": _form_bodies,
    "penstock.api.request_head:h11": each(_server_head, HEADER),
    "penstock.api.request_head:h11._connection": _trickled_head,
    "penstock.api.request_head:h11._events": each(_part_head, 4_000),
    "penstock.processes.channels.email_message._CONTROL": each(_mail, 2_000, "\x01", "\n", ";", ","),
    "penstock.processes.channels.email_message._MIME_TYPE": each(_mail, 2_000, "a/", "a", "/"),
    "penstock.processes.channels.email_message._NAMED": each(_mail, HEADER, "<", ">", "<a>"),
    "penstock.processes.channels.email_message._NOT_IN_LOCAL_PART": each(_mail, HEADER, "a", "@"),
    "penstock.processes.channels.email_message:email.headerregistry": each(
        _mail, 2_000, "é ", "=?", "(", "[", "a."
    ),
    "penstock.processes.channels.email_message:email.message": each(_mail, 2_000, "é", "\\", "a "),
    "penstock.processes.channels.email_message:email.policy": each(_mail, 2_000, "=?utf-8?q?", "\x80"),
    "penstock.processes.channels.email_message:email.utils": each(_mail, HEADER, "é"),
    "penstock.model.media._CONTROLS": each(_sniff, HEADER, "\x01", "\x00", "\x00a"),
    "penstock.model.media._HTML_START": each(
        _sniff, HEADER, "<!--x-->", "<!--", "<!doctype ", "<?xml>", " ", "\n"
    ),
    "penstock.model.media._HTML_TAGS": each(_sniff, HEADER, "<p ", "</p", "<table", "<a<"),
    "penstock.model.media._MAIL_HEADER": each(_sniff, HEADER, "a", "a:", "a:\n", "From:\n"),
    "penstock.model.media._MARKDOWN_SIGNS": each(_sniff, HEADER),
    "penstock.model.media._PDF_MARK": each(_sniff, HEADER, "%PDF-", "\r", "%"),
    "penstock.model.media._SPACES": each(_sniff, HEADER, " ", "\n", "\x0b", "\t\n"),
    "penstock.model.media._looks_like_mail": each(_sniff, HEADER, "\r", "\r\n", "\n"),
    "penstock.model.media._looks_like_table": each(_sniff, HEADER, '"', '","', ",", '"\n'),
    "penstock.model.media:zlib": _zip,
    "penstock.net.h11_patterns._CHUNK_HEADER": each(_server_chunk, HEADER, " ", "\t", "\x0b", "a "),
    "penstock.net.h11_patterns._HEADER_FIELD": each(_client_head, 90_000),
    "penstock.net.h11_patterns:h11._abnf": each(_client_head, 90_000, " ", "\t", "a ", " a"),
    "penstock.net.h11_patterns:h11._readers": each(_server_head, HEADER, " ", "\t", "a ", " a"),
    "penstock.net.outbound:http.cookiejar": each(_cookies, HEADER),
    "penstock.net.waiting:email.utils": each(lambda text: retry_after({"retry-after": text}), HEADER),
    "penstock.webhooks.signature._ID": each(_signature, HEADER),
    "penstock.webhooks.signature._TIMESTAMP": each(_signature, HEADER, "1", "0", "-"),
    "penstock.observe.formats._PLAIN": each(_log, 100_000, "a", "=", " "),
    "penstock.observe.formats._UNSAFE": each(_log, 100_000, "\x00", "\u202e", "\n"),
    "penstock.observe.payloads._LOOKS_SECRET": each(
        redacted,
        100_000,
        "-eyJ",
        "eyJ",
        "eyJaaaaaaaa.",
        "pk_",
        "-pk_a",
        "AKIA",
        "-----BEGIN ",
        "-----BEGIN A",
    ),
    "penstock.observe.redaction._ASSIGNED_SECRET": each(
        _log, 100_000, "token=", 'token="', "token='", "token =", "token"
    ),
    "penstock.observe.redaction._AUTHORIZATION": each(
        _log, 100_000, "authorization: ", "bearer ", "authorization:a ", "bearer\t"
    ),
    "penstock.observe.redaction._CAMEL": each(_log, 100_000, "aA", "A", "a"),
    "penstock.observe.redaction._NOT_WORD": each(_log, 100_000, "_", "-a", "é"),
    "penstock.observe.redaction._PAYLOAD": each(_log, 100_000, "payload=", "payload ", 'payload":'),
    "penstock.observe.redaction._URL_LOGIN": each(_log, 100_000, "://:", "://a:1", "://", ":@", "://:@"),
    "penstock.observe.redaction._WORD_WITH_AT": each(_log, 100_000, "@", "a@ ", "@ "),
    "penstock.embed.remote.embedder._same": each(_vendors, BODY // 4, "a", ".", "1", "-1", "[", '{"data":['),
    # Docling's answers are read in the worker's process: in a thread, but a pattern holds the interpreter.
    "penstock.pipeline.parse.blocks._DELIMITER_ROW": each(
        _docling, 40_000, "|-", "|", "- ", " ", "-", ":-", "|-\n"
    ),
    "penstock.pipeline.parse.blocks._FENCE": each(_docling, 40_000, "`", "```\n", "~", "````\n```\n"),
    "penstock.pipeline.parse.blocks._HEADING": each(_docling, 40_000, "#", "# ", " #", "#\n", "# \t"),
    "penstock.pipeline.parse.blocks._ITEM": each(_docling, 40_000, "- ", "1.", "-\n", "- a\n\n", "1"),
    "penstock.pipeline.parse.blocks._UNDERLINE": each(_docling, 40_000, "=", "= ", "-", "a\n=\n"),
    "penstock.pipeline.parse.clean._GAPS": each(_docling, 40_000, "\n", "\n\n\na"),
    "penstock.pipeline.parse.clean._MADE_BY": each(_docling, 40_000, "Microsoft Word - ", "Microsoft "),
    "penstock.pipeline.parse.clean._NO_TITLE": each(
        _docling, 40_000, "untitled", "!", "document1", "slide 1"
    ),
    "penstock.pipeline.parse.clean._TRAILING": each(_docling, 40_000, " ", "\t", " a", " \n"),
    "penstock.pipeline.parse.clean:email.utils": each(_docling, 40_000, "Mon, ", "1 "),
    "penstock.pipeline.parse.language._WORD": each(_docling, 40_000, "a", "the ", "é"),
    "penstock.pipeline.parse.result.primary": each(_docling, 40_000, " ", "de", "de-"),
    "penstock.sources.mail.rules.words._TOKEN": each(
        _rules, LONGEST_TEXT, "a", "a ", "1a", "_", "\u0301", "\ufdfa", "invoice", "total paid ", "\xdf"
    ),
    "penstock.console.bundle._NAME": each(Bundle().asset, HEADER, "a", ".", "../"),
    # Without a pattern or parser of ours, but outside bytes all the same.
    "penstock.api.identity.session_cookie": each(session_cookie, HEADER, "penstock_session=", ";", '\\"'),
    "penstock.api.bodies.refuse_unacceptable": each(_accept, HEADER, ",", ";", "a,", ";q=0,", " "),
    "penstock.api.host_check.HostCheck": each(_host, HEADER),
    "penstock.api.json_values.parse_object": _json,
    "penstock.api.multipart.is_form": each(is_form, HEADER),
    "penstock.net.bearer.api_key": each(lambda text: api_key({"authorization": f"Bearer {text}"}), HEADER),
    "penstock.net.outbound.check_url": each(lambda text: outbound.check_url(f"http://{text}/"), 60_000),
    "penstock.search.answer.Snippet": each(
        lambda text: Snippet.parse(text).html, 10_000, "\ue000", "\ue000\ue001", "<"
    ),
    "fastapi.routing:email.message": each(_content_type, HEADER),
}

NOT_ON_A_LOOP: Final[dict[str, str]] = {
    "penstock.pipeline.classify.prototypes:tomllib": "a file that comes with the package",
    "penstock.console.bundle._RELATIVE": "our own page",
    "penstock.console.bundle._index": "our own page",
    "penstock.backup.": "a command, on the operator's own archive",
    "penstock.cli.": "a command's own arguments and errors",
    "penstock.processes.channels.own": "the name of a channel that a program registers at its start",
    "penstock.index.qdrant_points:zlib": "a checksum, nothing is unpacked",
    "penstock.embed.tokens": "runs in the sandbox or in the process of a local model",
    "penstock.pipeline.chunk.": "runs in the sandbox",
    "penstock.embed.local.minilm_install": "a command, on a file whose hash was checked",
    "penstock.pipeline.parse.columns": "runs in the sandbox",
    "penstock.pipeline.parse.engine": "runs in the sandbox",
    "penstock.pipeline.parse.guards": "runs in the sandbox",
    "penstock.pipeline.parse.markup": "runs in the sandbox",
    "penstock.pipeline.parse.markup_source": "runs in the sandbox",
    "penstock.pipeline.parse.markup_writer": "runs in the sandbox",
    "penstock.pipeline.parse.pdfium": "runs in the sandbox",
    "penstock.pipeline.parse.page_image": "runs in the sandbox",
    "penstock.pipeline.parse.readers.": "runs in the sandbox",
    "penstock.pipeline.parse.result:xberg": "for types only",
    "penstock.queue.schedule": "schedules are the app's own code",
    "penstock.processes.generator.": "a command's own arguments",
    "penstock.settings": "the operator's own settings",
    "penstock.source_settings": "the operator's own settings",
    "penstock.sources.bindings.loading": "files of installed packages; their patterns have a case",
    "penstock.sources.bindings.template": "files of installed packages; values are put in unread",
    "penstock.sources.google_drive.records:zlib": "a checksum, nothing is unpacked",
    "penstock.sources.mapping.map_file": "files of installed packages",
    "penstock.sources.registry": "the names of installed packages",
    "penstock.simulators.": "not part of a running installation",
    "penstock.sql": "our own files",
    "penstock.testing.": "not part of a running installation",
}
"""Modules (and packages, with a full stop) whose patterns no stranger reaches on a loop, and why."""

h11_patterns.install()
