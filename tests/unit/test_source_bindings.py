"""Bindings as data: templates, paging rules, checks against a server's tools, and JSON in prose."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.sources.bindings.binding import Method, Paging
from penstock.sources.bindings.checking import mismatch
from penstock.sources.bindings.loading import binding_names, load_binding, parse_binding
from penstock.sources.bindings.page import NotAPage, page_of
from penstock.sources.bindings.paths import Path
from penstock.sources.bindings.template import fill
from penstock.sources.mcp_client.json_in_text import NOTHING, json_in

NOW = datetime(2026, 11, 16, tzinfo=UTC)
PACKAGES = [f"penstock.sources.{kind}" for kind in ("hubspot", "google_drive", "quickbooks", "gmail")]
GOOD = """
binding = "test-mcp@1"
transport = "mcp"
[methods."a.list"]
tool = "list"
records = "rows"
"""
BAD = {
    GOOD.replace("mcp@1", "mcp@2"): "must be the file's name",
    GOOD.replace('"mcp"', '"smtp"'): "transport must be mcp or rest",
    GOOD.replace("tool =", "tol ="): "unknown key 'tol'",
    GOOD.replace('"rows"', '"rows["'): "not a JMESPath expression",
    GOOD.replace("tool =", "request ="): "an mcp method has a tool",
    GOOD + 'paging = { rule = "guess" }': "paging.rule must be one of",
    GOOD + 'paging = { rule = "cursor" }': "needs the path next",
    GOOD + 'paging = { rule = "offset" }': "needs the path total",
    GOOD + "timeout = 4000": "at most 300 seconds",
    GOOD + 'page_size = 10\npaging = { rule = "page_full", overlap = 6 }': "at most half",
    GOOD.replace("[methods", 'errors = [{ text = "x", status = 200 }]\n[methods'): "status from 400",
    'binding = "test-mcp@1"\ntransport = "mcp"': "no methods",
    "binding =": "Invalid value",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_binding_that_comes_with_penstock_is_valid(package: str) -> None:
    names = binding_names(package)
    assert len(names) == 3
    for name in names:
        assert load_binding(package, name).methods


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_wrong_binding_says_what_is_wrong(text: str) -> None:
    with pytest.raises(ValueError, match="binding test-mcp@1") as refused:
        parse_binding(text, "test-mcp@1")
    assert BAD[text] in str(refused.value)


def test_a_template_keeps_types_and_leaves_out_what_has_no_value() -> None:
    template = {
        "limit": "{page_size}",
        "after": "{cursor}",
        "query": "modified > '{since}'",
        "filters": [{"$if": "since", "value": "{since}"}, {"$if": "cursor", "value": 1}],
        "empty": [],
    }
    assert fill(template, {"page_size": 50, "cursor": None}) == {"limit": 50, "empty": []}
    filled = fill(template, {"page_size": 50, "cursor": "x", "since": "2026"})
    assert filled["query"] == "modified > '2026'"
    assert filled["filters"] == [{"value": "2026"}, {"value": 1}]


def paged(rule: Any, answer: Any, cursor: Any = None, **more: Any) -> Any:
    method = Method(
        name="a.list", tool="list", records=Path("rows"), page_size=2, paging=Paging(rule=rule, **more)
    )
    return page_of(method, answer, cursor, NOW).next


def test_each_paging_rule_finds_the_next_page_and_the_last() -> None:
    two, one = {"rows": [{"id": 1}, {"id": 2}]}, {"rows": [{"id": 3}]}
    assert paged("none", two) is None
    assert paged("cursor", two | {"next": "t"}, next=Path("next")) == "t"
    assert paged("cursor", two | {"next": ""}, next=Path("next")) is None
    assert paged("offset", two | {"total": 3}, total=Path("total")) == 2
    assert paged("offset", one | {"total": 3}, 2, total=Path("total")) is None
    assert paged("offset", {"rows": [], "total": 9}, 2, total=Path("total")) is None, "a wrong total ends"
    assert paged("page_full", two, first=1) == 3
    assert paged("page_full", two, 3, first=1, overlap=1) == 4
    assert paged("page_full", one, 3, first=1) is None
    assert paged("keyset", two, next=Path("rows[-1].id")) == 2
    assert paged("keyset", one | {"total": 7}, 2, next=Path("rows[-1].id"), total=Path("total")) == 3
    assert paged("keyset", one, 2, next=Path("rows[-1].id")) is None
    assert paged("keyset", {"rows": []}, 2, next=Path("rows[-1].id")) is None


def test_records_that_are_not_a_list_are_no_page_but_a_missing_list_is_an_empty_one() -> None:
    method = Method(name="a.list", tool="list", records=Path("rows"))
    assert page_of(method, {"total": 0}, None, NOW).records == []
    assert page_of(method, {"rows": {"id": 1}}, None, NOW).records == [{"id": 1}]
    wrong: tuple[Any, ...] = ({"rows": 7}, [], "text")
    for answer in wrong:
        with pytest.raises(NotAPage):
            page_of(method, answer, None, NOW)


def test_a_binding_is_compared_with_the_tools_of_a_server() -> None:
    methods = [Method(name="a.list", tool="list", arguments={"limit": "{page_size}"})]
    properties = {"limit": {"type": "integer"}}
    assert mismatch(methods, {"list": {"properties": properties}}) is None
    assert "no tool list" in str(mismatch(methods, {}))
    assert "no argument limit" in str(mismatch(methods, {"list": {"properties": {}}}))
    needed = mismatch(methods, {"list": {"properties": properties, "required": ["account"]}})
    assert "needs the argument account" in str(needed)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Found 2 [1]:\n\n[{"a": "}"}, {"b": 2}]\nBye', [{"a": "}"}, {"b": 2}]),
        ('```json\n{"a": "say \\"hi\\" {"}\n```', {"a": 'say "hi" {'}),
        ('a :[ smile, then {"a": []}', {"a": []}),
        ("[]", []),
        ('None []: {"a": 1}', {"a": 1}),
        ("no JSON here", NOTHING),
        ("{not: json}", NOTHING),
        ("[" * 100_000, NOTHING),
    ],
)
def test_the_first_json_in_prose_is_found(text: str, value: object) -> None:
    assert json_in(text) == value


def test_ten_megabytes_of_prose_and_json_are_searched_in_linear_time() -> None:
    rows = [{"id": number, "text": "x" * 1_000} for number in range(10_000)]
    started = time.process_time()
    assert len(json_in("Here it is: " + json.dumps(rows) + " Anything else?")) == 10_000
    for hostile in ('{"' * 3_000_000, "[{" * 3_000_000, '{"a":' * 2_000_000, '[1] {"' + "\\" * 6_000_000):
        assert json_in(hostile) is NOTHING
    assert time.process_time() - started < 15
