"""Patterns and parsers that meet requests, answers, files and logs on a loop, with their worst inputs."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.message import Message
from typing import Final

import h11
import httpx2
from starlette.requests import Request

from penstock.accounts import accounts
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
from penstock.documents.bulk_operations import checked
from penstock.errors import PenstockError
from penstock.model import sniffing
from penstock.net import h11_patterns, outbound
from penstock.net.bearer import api_key
from penstock.net.waiting import retry_after
from penstock.observe import cleaning, formats, redaction
from penstock.observe.payloads import redacted
from penstock.webhooks.signature import verify
from tests.security.hostile_texts import BODY, HEADER, each


def _sniff(text: str) -> None:
    head = text.encode("utf-8", "replace")[: sniffing.HEAD_BYTES * 8]
    for name in (None, "a.txt", "a.eml"):
        sniffing.sniff(head, filename=name)
    sniffing.sniff(b"From: a\nTo: b\n" + head)
    sniffing.sniff(b"<?xml " + head)
    sniffing.sniff(b"%PDF" + head)


def _zip() -> None:
    entry = b"PK\x03\x04" + bytes(4) + b"\x08\x00" + bytes(16) + b"\x13\x00\x00\x00" + b"[Content_Types].xml"
    sniffing.sniff(entry * 1_300)
    sniffing.sniff(b"PK\x03\x04" * 16_000)
    sniffing.sniff(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"_" * HEADER)


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


def _content_type(text: str) -> None:
    """FastAPI asks the email package for the type of a JSON body, without its parameters."""
    message = Message()
    message["content-type"] = text.replace("\n", "").replace("\r", "")
    message.get_content_maintype()
    message.get_content_subtype()


_forms_content_type = each(lambda text: _form(b"", "multipart/form-data; " + text.replace("\n", "")), HEADER)


ON_THE_LOOP: Final[dict[str, Callable[[], None]]] = {
    "penstock.accounts.accounts._SLUG": each(accounts._SLUG.fullmatch, HEADER),
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
    "penstock.model.sniffing._CONTROLS": each(_sniff, HEADER, "\x01", "\x00", "\x00a"),
    "penstock.model.sniffing._HTML_START": each(
        _sniff, HEADER, "<!--x-->", "<!--", "<!doctype ", "<?xml>", " ", "\n"
    ),
    "penstock.model.sniffing._HTML_TAGS": each(_sniff, HEADER, "<p ", "</p", "<table", "<a<"),
    "penstock.model.sniffing._MAIL_HEADER": each(_sniff, HEADER, "a", "a:", "a:\n", "From:\n"),
    "penstock.model.sniffing._MARKDOWN_SIGNS": each(_sniff, HEADER),
    "penstock.model.sniffing._PDF_MARK": each(_sniff, HEADER, "%PDF-", "\r", "%"),
    "penstock.model.sniffing._SPACES": each(_sniff, HEADER, " ", "\n", "\x0b", "\t\n"),
    "penstock.model.sniffing._looks_like_mail": each(_sniff, HEADER, "\r", "\r\n", "\n"),
    "penstock.model.sniffing._looks_like_table": each(_sniff, HEADER, '"', '","', ",", '"\n'),
    "penstock.model.sniffing:zlib": _zip,
    "penstock.model.text_media._ASCIIDOC_SIGN": each(_sniff, HEADER, "= a\n", "==", ":a", "include:"),
    "penstock.model.text_media._ASCIIDOC_TITLE": each(_sniff, HEADER, " ", "\n", "= "),
    "penstock.model.text_media._JATS_ROOT": each(_sniff, HEADER, "<article ", "<article"),
    "penstock.model.text_media._JSON_LINE": each(_sniff, HEADER, '{"a":1}', '{"a"', '{"'),
    "penstock.model.text_media._JSON_OBJECT": each(_sniff, HEADER, "{", "[", '{"', '{"\\', " "),
    "penstock.model.text_media._LATEX_START": each(_sniff, HEADER, "\\", "\\document", "\t"),
    "penstock.model.text_media._ORG_START": each(_sniff, HEADER, "#+", "#+title", "\n"),
    "penstock.model.text_media._RST_SIGN": each(_sniff, HEADER, ".. ", ".. a-", ".. _a"),
    "penstock.model.text_media._SHEBANG": each(_sniff, HEADER, "#!", "#!/", "#!p"),
    "penstock.model.text_media._SUBRIP_START": each(_sniff, HEADER, "1", "1\n", "1\n00:00:00,000 "),
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
    "penstock.console.bundle._NAME": each(Bundle().asset, HEADER, "a", ".", "../"),
    # Without a pattern or parser of ours, but outside bytes all the same.
    "penstock.api.identity.session_cookie": each(session_cookie, HEADER, "penstock_session=", ";", '\\"'),
    "penstock.documents.bulk_operations._PROCESS": each(
        lambda text: checked("processes.retry", {"ids": [text]}), HEADER, "a", "a.", "a.a/", "1", "_"
    ),
    "penstock.api.bodies.refuse_unacceptable": each(_accept, HEADER, ",", ";", "a,", ";q=0,", " "),
    "penstock.api.host_check.HostCheck": each(_host, HEADER),
    "penstock.api.json_values.parse_object": _json,
    "penstock.api.multipart.is_form": each(is_form, HEADER),
    "penstock.net.bearer.api_key": each(lambda text: api_key({"authorization": f"Bearer {text}"}), HEADER),
    "penstock.net.outbound.check_url": each(lambda text: outbound.check_url(f"http://{text}/"), 60_000),
    "fastapi.routing:email.message": each(_content_type, HEADER),
}


h11_patterns.install()
