"""Every regular expression and parser that meets what a provider, or anybody who writes to one, sends."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path as FolderPath
from typing import Any, Final

import httpx2

from penstock.errors import InvalidArgument, PenstockError
from penstock.errors.invalid_field import reworded
from penstock.inlets.s3_events import EventRefused, events_of
from penstock.sources.bindings.loading import binding_names, load_binding
from penstock.sources.bindings.mcp_calls import _STATUS
from penstock.sources.bindings.paths import Path
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.gmail.bodies import text_of
from penstock.sources.gmail.messages import _sent_at
from penstock.sources.imap.decoding import decoded
from penstock.sources.imap.structure import parts_of
from penstock.sources.imap.values import values_of
from penstock.sources.mail.charsets import decode
from penstock.sources.mail.fields import split_addresses
from penstock.sources.mail.header_text import date_in, headers_in, parameter, plain
from penstock.sources.mail.text import shown_ids
from penstock.sources.mapping import functions
from penstock.sources.mapping.expressions import compile_expression
from penstock.sources.mapping.map_file import load_maps
from penstock.sources.mcp_client.http import date_of
from penstock.sources.mcp_client.json_in_text import json_in
from penstock.sources.oauth.answers import clean_code
from penstock.sources.reading.html_text import text_of_html
from penstock.sources.responses import HttpFailure, failure_of
from penstock.sources.s3.place import place_of
from penstock.sources.sync.items import as_json
from tests.plugins.objects import event
from tests.security.hostile_texts import BODY, HEADER, each

PACKAGES: Final = tuple(
    f"penstock.sources.{name}" for name in ("gmail", "google_drive", "hubspot", "quickbooks")
)
LONG: Final = 100_000
"""Long enough: the square of it takes minutes, even a character in a nanosecond takes ten seconds."""
LEAF: Final = 1_000
"""Entries of a list, since a map looks at it under hundreds of names."""
TRAVERSING: Final = ("a[].id", "a[*].id[]", "a[?id=='x'].id", "a[][][]")
LOOKED_AT: Final = 65_536
"""Characters of a tool's text that are searched for an error."""
MARKUP: Final = (
    *("<div>", "<b x=1>", "<a", '<a "', "<a =", '<a ="', "<a ='", "<a =\"='", '<a =">', "<a a1 a2 a3 ", "</"),
    *("</p>", "<!", "<!-", "<!--", "<!-->", "<script>", "</script", "<style ", "<template>", "<table>"),
    *("<ul><li>", "&", "&a", "&#", "&#9", "&" + "a" * 31, "<", ">", " ", "x<i></i>"),
)


def _mail_in_html(text: str) -> None:
    data = base64.urlsafe_b64encode(text.encode()).decode()
    text_of({"mimeType": "text/html", "body": {"data": data}})


def _nested_markup() -> None:
    """What a tree builder needs the square of: depth, attributes, open formatting elements."""
    count = LONG // 2
    for html in (
        "<div>" * count + "x" + "</p>" * count,
        "".join(f"<b x={n}>" for n in range(count)) + "<p>x" * count,
        "<p " + " ".join(f"a{n}=1" for n in range(count)) + ">x",
        "<ul><li>" * count,
    ):
        assert len(text_of_html(html, " ")) <= 2 * count
        functions.strip_html(html)


def _records() -> Iterator[dict[str, Any]]:
    """Long, wide and deep values under every name that a map or a binding of ours looks for."""
    deep: Any = "x"
    for _ in range(500):
        deep = [deep]
    leaves: tuple[Any, ...] = ("<" * LEAF, "2026-" * (LEAF // 5), list(range(LEAF)), [[]] * LEAF, deep)
    for leaf in leaves:
        fields = dict.fromkeys(_names(), leaf)
        yield fields
        yield dict.fromkeys(_names(), fields)
        yield {name: [fields] for name in _names()}
    few = {"id": "x", "a": ["y"], "messages": [{"id": 1}]}
    for held in ([few] * LEAF, [[few]] * LEAF, {str(number): few for number in range(LEAF)}):
        yield dict.fromkeys(_names(), held)


@cache
def _names() -> tuple[str, ...]:
    texts = [path.text for path in _paths()]
    for package in PACKAGES:
        texts += [file.read_text() for file in (files(package) / "maps").iterdir()]
    return tuple(sorted({name for text in texts for name in re.findall(r"[A-Za-z_]\w*", text)}))


@cache
def _paths() -> tuple[Path, ...]:
    """The paths of our bindings, and what those of another package may do besides."""
    found = {
        Path(text) for text in ("a[].id", "a[*].id[]", "a[?id=='x'].id", "*.*", "[][][]", "a[::-1]", "@")
    }
    for package in PACKAGES:
        for name in binding_names(package):
            for method in load_binding(package, name).methods.values():
                known = (method.records, method.content, method.paging.next, method.paging.total)
                found |= {path for path in (*known, *method.values.values()) if path is not None}
    return tuple(sorted(found, key=lambda path: path.text))


def _found_by_paths() -> None:
    for record in _records():
        for path in _paths():
            path.find(record)


def _mapped() -> None:
    maps = [
        each for package in PACKAGES for each in load_maps(FolderPath(str(files(package) / "maps"))).values()
    ]
    assert maps
    for record in _records():
        for record_map in maps:
            with suppress(PenstockError):
                record_map.apply("a/1", record)


def _interpreted() -> None:
    """What field maps leave to the interpreter of the library."""
    for text in (*TRAVERSING, "a[0].id", "a[-1]", "a && b || c", "!a", "a | b"):
        expression = compile_expression(text)
        for record in _records():
            expression.evaluate(record)


def _error_texts(text: str) -> None:
    _STATUS.search(text)
    for package in PACKAGES:
        for name in binding_names(package):
            binding = load_binding(package, name)
            for pattern in (
                *([binding.error_text] if binding.error_text else ()),
                *(pattern for pattern, _ in binding.errors),
            ):
                pattern.search(text)


def _failure(text: str) -> None:
    bodies: tuple[Any, ...] = (
        {"error": {"errors": [{"reason": text}] * 3, "status": text}},
        {"errors": [{"context": {"requiredGranularScopes": [text]}}]},
        {"category": text, "Fault": {"Error": [{"code": text}]}},
    )
    for sent in (*(json.dumps(body).encode() for body in bodies), text.encode("utf-8", "replace")):
        for status in (400, 401, 403, 429, 500):
            headers = {"www-authenticate": text, "retry-after": text}
            failure_of("A", "b", HttpFailure(status, headers, sent))


def _values(text: str) -> None:
    """The functions that field maps call with a record's values."""
    for call, _ in functions.FUNCTIONS.values():
        for arguments in ((text,), (text, text), (" ", [text])):
            with suppress(ValueError, TypeError):
                call(*arguments)
    with suppress(ValueError):
        functions.moment(text)


def _json_starts() -> None:
    for text in (
        "[" * 31 + "1," * (BODY // 2),
        '["' * 31 + "a" * BODY,
        '{"a":' * (BODY // 5),
        "[1] " * (BODY // 4),
        "[" * BODY,
        "[" + "9" * BODY + "]",
    ):
        json_in(text)


def _date(text: str) -> None:
    with suppress(UnicodeError):
        date_of(httpx2.Response(200, headers={"Date": text.replace("\n", "").replace("\r", "")}))


def _response(text: str) -> None:
    """A response of a mail server, as long as a mail's description may be."""
    for line in (text, f'* 1 FETCH (X "{text}', f"* 1 FETCH ({text})", f"BODY[{text}]"):
        with suppress(ProviderUnavailable):
            list(parts_of(values_of([line.encode()])))


def _headers(text: str) -> None:
    block = text.encode()
    for sent in (block, b"Subject: " + block, b"Subject: a\r\n " + block.replace(b"a", b"\r\n ")):
        for _, value in headers_in(sent):
            plain(value)
    for name in ("name", "name*", "name*0", "name*0*", "name*1*"):
        parameter({name: text, "name*0": text}, "name")


def _charsets() -> None:
    """Python's own codecs for host names need the square of the length."""
    for charset in ("punycode", "idna", "utf-7", "unicode_escape", "iso2022_jp", "hz", "utf-16"):
        for piece in (b"a", b"a-b9", b"-", b"+", b"~{", b"\x1b$B", b"\\u"):
            decode(piece * (BODY // len(piece)), charset)
    for encoding in ("base64", "quoted-printable"):
        for piece in (b"=", b"a", b"=\n", b"=3D", b"\r\n", b" ", b"!"):
            decoded(piece * (BODY // len(piece)), encoding)


def _s3_event(text: str) -> None:
    with suppress(EventRefused):
        events_of(json.dumps(event("one.txt", sequencer=text)))


def _s3_place(text: str) -> None:
    for config in ({"bucket": text}, {"bucket": "papers", "region": text}):
        with suppress(InvalidArgument):
            place_of(config)


ON_THE_LOOP: Final[dict[str, Callable[[], None]]] = {
    "penstock.inlets.s3_events._SEQUENCER": each(_s3_event, BODY, "0", "0x", "aF"),
    "penstock.sources.s3.place._BUCKET": each(_s3_place, BODY, "a", "a.", "-"),
    "penstock.sources.s3.place._REGION": each(_s3_place, BODY, "a-", "eu-", "eu-central-1"),
    "penstock.errors.invalid_field._SHOULD": each(
        reworded, BODY // 10, "A", "Aa", "Aa should ", "Aa should be"
    ),
    "penstock.sources.bindings.mcp_calls._STATUS": each(
        _error_texts,
        LOOKED_AT,
        "status",
        "status ",
        "HTTP:",
        "status code",
        "status: 4",
        " ",
        "a",
        "error",
        "Error: ",
    ),
    "penstock.sources.bindings.paths:jmespath": _found_by_paths,
    "penstock.sources.mapping.expressions:jmespath": _mapped,
    "penstock.sources.mapping.expressions:jmespath.visitor": _interpreted,
    "penstock.sources.gmail.messages:email.utils": each(_sent_at, HEADER),
    "penstock.sources.imap.values._ATOM": each(
        _response,
        LONG,
        "(",
        ")",
        "()",
        '"',
        "\\",
        "\\a",
        '\\"',
        "[",
        "]",
        "[]",
        "a",
        " ",
        "a ",
        "NIL ",
        "{1}",
    ),
    "penstock.sources.mail.charsets.decode": _charsets,
    "penstock.sources.mail.header_text.headers_in": each(
        _headers,
        HEADER,
        "=?",
        "=?a?b?",
        "=?utf-8?q?a?= ",
        "=?utf-8?b?",
        "?=",
        "?",
        "\r\n ",
        ":",
        "'",
        "%41",
        "a:",
    ),
    "penstock.sources.mail.header_text:email.utils": each(date_in, HEADER),
    "penstock.sources.mail.text._SHOWN": each(shown_ids, BODY // 4, "cid:", "cid:a", "cid", "CID:%41"),
    "penstock.sources.mail.fields.split_addresses": each(split_addresses, HEADER),
    "penstock.sources.mapping.functions.ADDRESS": each(
        _values, HEADER, "<", ">", "<a>", "<a> ", "@", "<a@b> ", "//"
    ),
    "penstock.sources.mapping.functions.DAY": each(_values, HEADER, "2026-04-15", "2026-", "-"),
    "penstock.sources.mapping.functions.EPOCH_DIGITS": each(
        _values, HEADER, "1", "-", "1e", "1,", "0.", "1_"
    ),
    "penstock.sources.mcp_client.http:email.utils": each(_date, HEADER),
    "penstock.sources.mcp_client.json_in_text._START": _json_starts,
    "penstock.sources.oauth.answers._UNSAFE": each(clean_code, BODY),
    "penstock.sources.reading.html_text._ENDS": each(_mail_in_html, LONG, *MARKUP),
    "penstock.sources.reading.html_text._MARKUP": _nested_markup,
    "penstock.sources.reading.html_text._TAG": each(
        lambda text: text_of_html(f"<a {text}", " "), LONG, *MARKUP
    ),
    "penstock.sources.responses._CODE": each(_failure, LOOKED_AT, "a", "a:", "{", "["),
    "penstock.sources.responses._SCOPE": each(
        _failure, HEADER, "scope", "scope=", "scopes:", "scope ", ":", '"'
    ),
    "penstock.sources.sync.items._UNSTORABLE": each(
        lambda text: as_json({"a": text, text[:1_000]: [text]}),
        BODY // 4,
        "\\u",
        "\\u0000",
        "\x00",
        "\ud800",
        "é",
    ),
}
