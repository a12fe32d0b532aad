"""An edited payload keeps the secrets that its editor was not shown, or is refused with the path."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest

from penstock.errors import InvalidArgument
from penstock.observe.payloads import redacted
from penstock.observe.restored_payloads import restored

KEY, OTHER = "sk-0123456789abcdef0123", "sk-9876543210fedcba9876"
ORIGINAL: dict[str, Any] = {
    "name": "Ada",
    "password": "hunter2",
    "note": f"key {KEY}",
    "url": "postgresql://ada:hunter2@db/x",
    "long": "a" * 3_000,
    "nested": {"headers": {"Authorization": "Basic aHVudGVyMg==", "Accept": "*/*"}},
    "credentials": {"user": "ada", "pin": 1234},
    "servers": [{"host": "one", "token": KEY}, {"host": "two", "token": OTHER}],
    "keys": [KEY, "public", OTHER],
    "secret_number": 42,
    KEY: "by key",
}


def shown() -> Any:
    return json.loads(json.dumps(redacted(ORIGINAL)[0]))


def test_a_payload_that_was_not_edited_is_the_original() -> None:
    assert "hunter2" not in str(shown())
    assert restored(shown(), ORIGINAL) == ORIGINAL


def test_what_was_edited_is_taken_and_what_was_hidden_is_kept_at_any_depth() -> None:
    edited = shown()
    edited["name"] = "Bob"
    edited["nested"]["headers"]["Accept"] = "text/html"
    edited["servers"][1]["host"] = "three"
    edited["servers"].append({"host": "four", "token": "mine"})
    edited["keys"][1] = "private"
    edited["password"] = "mine, too"
    del edited["url"]
    expected = json.loads(json.dumps(ORIGINAL))
    expected["name"] = "Bob"
    expected["nested"]["headers"]["Accept"] = "text/html"
    expected["servers"][1]["host"] = "three"
    expected["servers"].append({"host": "four", "token": "mine"})
    expected["keys"][1] = "private"
    expected["password"] = "mine, too"
    del expected["url"]
    assert restored(edited, ORIGINAL) == expected


def test_what_replaces_a_hidden_object_may_keep_parts_of_it() -> None:
    edited = {"credentials": {"user": "bob", "pin": "[redacted]"}}
    assert restored(edited, ORIGINAL) == {"credentials": {"user": "bob", "pin": 1234}}


def test_a_value_that_only_looks_equal_is_the_edited_one() -> None:
    edited = restored({"a": {"on": 1, "password": "[redacted]"}}, {"a": {"on": True, "password": "x"}})
    assert json.dumps(edited) == '{"a": {"on": 1, "password": "x"}}'


def test_the_mark_itself_is_a_value_where_the_original_has_it() -> None:
    original = {"note": "[redacted]", "text": "see [redacted] there"}
    assert restored(dict(original), original) == original
    assert restored({**original, "text": "see [redacted] here"}, original)["text"] == "see [redacted] here"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"missing": "[redacted]"}, "payload.missing"),
        ({"nested": {"headers": {"Cookie": "[redacted]"}}}, "payload.nested.headers.Cookie"),
        ({"keys": ["[redacted]", "public", "[redacted]", "[redacted]"]}, "payload.keys.3"),
        ({"servers": [{"host": "two", "token": "[redacted]"}]}, "payload.servers.0"),
        ({"note": "the key [redacted]"}, "payload.note"),
        ({"url": "postgresql://ada:***@db/y"}, "payload.url"),
        ({"x [redacted]": 1}, "payload.x [redacted]"),
    ],
)
def test_a_mark_for_an_unknown_value_is_refused_with_its_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        restored({**shown(), **changes}, ORIGINAL)
    assert refused.value.field == path
    assert KEY not in str(refused.value)


def test_a_payload_with_many_fields_takes_time_in_proportion_only() -> None:
    many = 20_000
    original = {"fields": {f"{KEY}{n}": n for n in range(many)}, "list": [{"token": n} for n in range(many)]}
    edited = {
        "fields": {f"field {n}": n for n in range(many)},
        "list": [{"token": "[redacted]", "n": n} for n in range(many)],
    }
    begun = process_time()
    assert restored(edited, original)["list"][-1] == {"token": many - 1, "n": many - 1}
    assert process_time() - begun < 4


def test_nesting_does_not_multiply_the_time() -> None:
    flat: list[object] = [*(f"text {n}" for n in range(20_000)), KEY]
    nested = flat
    for _ in range(30):
        nested = [nested]

    def seconds(payload: dict[str, object]) -> float:
        shown = redacted(payload)[0]
        assert isinstance(shown, dict)
        began = process_time()
        assert restored(shown, payload) == payload
        return process_time() - began

    once = min(seconds({"texts": flat}) for _ in range(3))
    assert min(seconds({"texts": nested}) for _ in range(3)) < 4 * once
