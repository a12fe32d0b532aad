"""Secrets never reach a log line, by name or inside a text, and no value can break the line."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from penstock.observe.cleaning import clean_fields
from penstock.observe.redaction import REDACTED, TEXT_LIMIT, hides, scrub


def clean(**fields: object) -> dict[str, object]:
    line = clean_fields(fields, with_traceback=False)
    json.dumps(line, allow_nan=False)
    return line


@pytest.mark.parametrize(
    "name",
    [
        "payload",
        "raw_payload",
        "password",
        "db_password",
        "PGPASSWORD",
        "passwd",
        "secret",
        "client_secret",
        "clientSecret",
        "token",
        "access_token",
        "refreshToken",
        "accesstoken",
        "authorization",
        "Authorization",
        "Proxy-Authorization",
        "api_key",
        "apikey",
        "apiKey",
        "X-API-Key",
        "private_key",
        "set-cookie",
        "jwt",
        "credentials",
    ],
)
def test_a_field_named_like_a_secret_is_never_written(name: str) -> None:
    assert clean(**{name: "hunter2"}) == {name: REDACTED}
    assert "hunter2" not in json.dumps(clean(outer={"inner": [{name: "hunter2"}]}))
    assert REDACTED in json.dumps(clean(outer={"inner": [{name: "hunter2"}]}))


@pytest.mark.parametrize("name", ["task_id", "key", "tokenizer", "author", "keys", "worker_id", "passes"])
def test_a_harmless_name_keeps_its_value(name: str) -> None:
    assert clean(**{name: "plain"}) == {name: "plain"}


def test_counts_of_tokens_and_payload_bytes_are_shown_but_only_as_numbers() -> None:
    assert clean(token_count=12, tokens=7, payload_bytes=900) == {
        "token_count": 12,
        "tokens": 7,
        "payload_bytes": 900,
    }
    assert hides("token_count", "sk-123")
    assert hides("tokens", ["sk-123"])
    assert hides("token", 123456)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://user:pw@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user:p@ss/w0rd@host:5432/db", "postgresql://user:***@host:5432/db"),
        ("redis://:pw@host", "redis://:***@host"),
        ("connect to postgres://u:pw@h failed", "connect to postgres://u:***@h failed"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("postgresql://user@host/db", "postgresql://user@host/db"),
        ("host=db password=pw user=u", f"host=db password={REDACTED} user=u"),
        ("https://h/p?token=abc&page=2", f"https://h/p?token={REDACTED}&page=2"),
        ("{'api_key': 'abc', 'n': 1}", f"{{'api_key': {REDACTED}, 'n': 1}}"),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {REDACTED}"),
        ("sent bearer abcdef", f"sent bearer {REDACTED}"),
        ("Task(id=1, payload={'name': 'Ann'})", f"Task(id=1, payload={REDACTED}"),
        ("unexpected token: }", "unexpected token: }"),
    ],
)
def test_secrets_inside_a_text_are_taken_out(text: str, shown: str) -> None:
    assert scrub(text) == shown


def test_a_url_is_shown_without_its_password_whatever_the_field_is_called() -> None:
    assert clean(dsn="postgresql://u:pw@h/d", where=["amqp://u:pw@h"]) == {
        "dsn": "postgresql://u:***@h/d",
        "where": ["amqp://u:***@h"],
    }


def test_a_long_text_is_cut() -> None:
    text = clean(text="x" * 1_000_000)["text"]
    assert isinstance(text, str)
    assert len(text) == TEXT_LIMIT
    assert text.endswith("...")


def test_a_secret_at_the_cut_is_not_shown_in_part() -> None:
    url = " postgresql://u:hunter2hunter2hunter2@h/d"
    assert "hunter" not in scrub("x" * (TEXT_LIMIT - 30) + url)
    assert "hunter" not in scrub("password=" + "x" * (2 * TEXT_LIMIT - 40) + url)


def test_header_pairs_are_redacted_too() -> None:
    assert clean(headers=[("Authorization", "abc"), (b"cookie", b"abc"), ("Accept", "x")]) == {
        "headers": [["Authorization", REDACTED], ["cookie", REDACTED], ["Accept", "x"]]
    }


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    name: str
    password: str


@dataclass(frozen=True, slots=True)
class Login:
    user: str
    secret: str


def test_values_become_json() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert clean(
        at=moment,
        wait=timedelta(seconds=1.5),
        id=UUID(int=1),
        path=Path("/a"),
        colour=Colour.RED,
        raw=b"abc",
        nan=float("nan"),
        pair=Pair("ann", "pw"),
        login=Login("ann", "pw"),
        none=None,
        flag=True,
    ) == {
        "at": "2026-01-02T03:04:05+00:00",
        "wait": 1.5,
        "id": "00000000-0000-0000-0000-000000000001",
        "path": "/a",
        "colour": "red",
        "raw": "[3 bytes]",
        "nan": "nan",
        "pair": {"name": "ann", "password": REDACTED},
        "login": {"user": "ann", "secret": REDACTED},
        "none": None,
        "flag": True,
    }


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Unhelpful:
    @property  # type: ignore[misc]  # the lie about the class is what is tested
    def __class__(self) -> type:
        raise RuntimeError("no")


class Broken(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "make", [Unprintable, Unhelpful, Broken, lambda: [Unprintable()], lambda: {Unprintable(): 1}]
)
def test_a_value_that_cannot_be_printed_says_so(make: Callable[[], object]) -> None:
    assert "[unprintable" in json.dumps(clean(value=make()))


def test_an_exception_that_cannot_be_printed_still_has_its_code() -> None:
    assert clean(error=Mute()) == {"error_code": "Mute", "error_message": "[unprintable Mute]"}


def test_huge_deep_and_circular_values_are_bounded() -> None:
    circle: list[object] = []
    circle.extend([circle] * 40)
    deep: object = "end"
    for _ in range(100_000):
        deep = [deep]
    wide = {str(n): list(range(1_000)) for n in range(1_000)}
    line = json.dumps(clean(circle=circle, deep=deep, wide=wide, number=10**10_000, text=["y" * 5_000] * 500))
    assert len(line) < 60_000


def test_names_of_the_line_itself_are_not_overwritten() -> None:
    assert clean(level="x", time=1, logger="y") == {"level_": "x", "time_": 1, "logger_": "y"}
