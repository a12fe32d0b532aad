"""Field maps make of each provider's records what the table of document types promises."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import jmespath
import pytest

import penstock.sources
from penstock.sources.mapping.expressions import ExpressionInvalid, compile_expression
from penstock.sources.mapping.facts_json import exact_json, facts_json
from penstock.sources.mapping.functions import domain, email_domain, moment, money
from penstock.sources.mapping.map_file import MapFileInvalid, load_map, load_maps
from penstock.sources.mapping.mapped import MapFailed
from penstock.sources.mapping.record_map import RecordMap
from tests.unit.golden_records import CONTACT, DEAL, GOLDEN, INVOICE

SOURCES = Path(penstock.sources.__file__).parent
MAPS: Mapping[str, RecordMap] = {
    name: found
    for folder in sorted(SOURCES.glob("*/maps"))
    for name, found in load_maps(folder).items()
    if name in GOLDEN
}


def test_every_provider_has_its_maps() -> None:
    assert set(MAPS) == set(GOLDEN)


@pytest.mark.parametrize("document_type", list(GOLDEN))
def test_a_golden_record_becomes_its_document_and_facts(document_type: str) -> None:
    payload, external_id, title, text, facts = GOLDEN[document_type]
    field_map = MAPS[document_type]
    before = copy.deepcopy(payload)
    assert field_map.external_id(payload) == external_id
    mapped = field_map.apply(external_id, payload)
    assert (mapped.title, mapped.text) == (title, text)
    assert {fact.name: (fact.client, fact.value) for fact in mapped.facts} == facts
    assert len(mapped.facts) == len(facts)
    assert payload == before
    assert field_map.apply(external_id, payload) == mapped


def test_times_are_read_whatever_the_vendor_writes() -> None:
    invoice = MAPS["quickbooks.invoice"].apply("invoices/8", INVOICE)
    assert {fact.name: fact.as_of for fact in invoice.facts}["invoice_history"] == datetime(
        2026, 3, 1, tzinfo=UTC
    )
    assert invoice.updated_at == datetime(2026, 3, 2, 16, tzinfo=UTC)
    assert moment("1776150000000") == datetime(2026, 4, 14, 7, tzinfo=UTC)
    with pytest.raises(ValueError, match="not a date"):
        moment("soon")


@pytest.mark.parametrize(
    ("document_type", "missing", "path"),
    [
        ("quickbooks.invoice", "CustomerRef", "CustomerRef.value"),
        ("quickbooks.invoice", "TotalAmt", "TotalAmt"),
        ("hubspot.company", "properties", "properties.name"),
        ("gmail.thread", "messages", "messages"),
        ("google_drive.doc", "name", "name"),
    ],
)
def test_a_missing_required_field_fails_with_its_path(document_type: str, missing: str, path: str) -> None:
    payload = {name: value for name, value in GOLDEN[document_type][0].items() if name != missing}
    with pytest.raises(MapFailed, match="is missing") as failed:
        MAPS[document_type].apply("x/1", payload)
    assert failed.value.path == path


def test_a_value_that_cannot_be_used_fails_with_its_path() -> None:
    with pytest.raises(MapFailed, match="is not an amount") as failed:
        MAPS["quickbooks.invoice"].apply("invoices/8", INVOICE | {"TotalAmt": "many"})
    assert failed.value.path == "TotalAmt, CurrencyRef.value"


def test_a_value_that_is_nested_too_deeply_fails_its_own_record_only() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    with pytest.raises(MapFailed, match="is nested too deeply"):
        MAPS["hubspot.deal"].apply("deals/9", DEAL | {"properties": {"dealname": deep}})


def test_only_an_open_deal_is_listed_and_a_deal_without_a_company_states_nothing() -> None:
    deals = MAPS["hubspot.deal"]
    closed: dict[str, Any] = copy.deepcopy(DEAL)
    closed["properties"]["dealstage"] = "closedwon"
    assert {fact.name for fact in deals.apply("deals/9", closed).facts} == {"deal_stage", "deal_amount"}
    own_stage = copy.deepcopy(DEAL)
    own_stage["properties"] = {**DEAL["properties"], "dealstage": "1187", "hs_is_closed": "true"}  # type: ignore[dict-item]
    assert "open_deals" not in {fact.name for fact in deals.apply("deals/9", own_stage).facts}
    alone = {name: value for name, value in DEAL.items() if name != "associations"}
    assert deals.apply("deals/9", alone).facts == ()


def test_a_contact_without_a_company_names_no_client() -> None:
    contact: dict[str, Any] = copy.deepcopy(CONTACT)
    contact["properties"]["company"] = ""
    assert "client_name" not in {
        fact.name for fact in MAPS["hubspot.contact"].apply("contacts/7", contact).facts
    }


def test_amounts_are_exact_from_the_payload_to_the_database() -> None:
    payload = json.loads('{"TotalAmt": 0.1, "big": 123456789012.34, "text": "1,250.10"}')
    assert [money(value) for value in payload.values()] == [
        Decimal("0.1"),
        Decimal("123456789012.34"),
        Decimal("1250.10"),
    ]
    fact = MAPS["quickbooks.invoice"].apply("invoices/8", INVOICE).facts[1]
    assert '"amount":99.95' in facts_json([("invoices/8", fact)])
    assert json.loads(exact_json({"a": [Decimal("1E+2"), True, None, 'é"']})) == {
        "a": [100, True, None, 'é"']
    }
    for wrong in ("NaN", "1e400", True, [1]):
        with pytest.raises(ValueError, match="not an amount"):
            money(wrong)


def test_an_amount_of_a_few_characters_is_not_written_as_gigabytes() -> None:
    for wrong in ("1e-999999999", "0e-999999999", f"0.{'0' * 400}1"):
        with pytest.raises(ValueError, match="not an amount"):
            money(wrong)
    assert exact_json(money("0e999999999")) == "0"
    assert money(5e-324) == Decimal("5e-324")


def test_domains_are_found_in_what_people_write() -> None:
    assert domain("https://www.Acme.co.uk/about?x=1") == "acme.co.uk"
    assert [domain(value) for value in ("n/a", "acme", "http://[", None, "")] == [None] * 5
    assert email_domain("Ada <ADA@Acme.com>") == "acme.com"
    assert [email_domain(value) for value in ("ada", "@acme.com", None)] == [None] * 3


def test_text_that_postgres_cannot_store_is_replaced() -> None:
    contact: dict[str, Any] = copy.deepcopy(CONTACT)
    contact["properties"] |= {"company": "A\x00B", "jobtitle": "\ud800"}
    mapped = MAPS["hubspot.contact"].apply("contacts/7", contact)
    assert "\x00" not in (mapped.text or "") + "".join(str(fact.value) for fact in mapped.facts)
    (mapped.text or "").encode()


@pytest.mark.parametrize(
    "text",
    [
        "properties.email",
        "properties.nothing.deeper",
        "a || b || properties",
        "{x: properties.email, y: id}",
        "[id, properties.email][?@]",
        "list[*].x",
        "list[0].x || 'none'",
        "id == '7' && !missing",
        "`0` || id",
    ],
)
def test_expressions_mean_what_jmespath_means(text: str) -> None:
    value = {"id": "7", "properties": {"email": "a@b.c"}, "list": [{"x": 1}, {"y": 2}], "b": [], "a": ""}
    assert compile_expression(text).evaluate(value) == jmespath.search(text, value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("to_string(id)", "no function to_string"), ("lower(a, b)", "takes 1"), ("a[", "Incomplete")],
)
def test_only_the_functions_of_field_maps_can_be_called(text: str, reason: str) -> None:
    with pytest.raises(ExpressionInvalid, match=reason):
        compile_expression(text)


HEAD = 'document_type = "x.y"\nversion = 1\nstream = "ys"\nid = "id"\ntitle = "name"\n'


@pytest.mark.parametrize(
    ("text", "line", "field", "reason"),
    [
        (HEAD + "= 3", 6, "", "Invalid statement"),
        (HEAD.replace("version = 1\n", ""), None, "version", "required"),
        (HEAD.replace('"name"', '"upper(name)"'), 5, "title", "no function upper"),
        (
            HEAD + '[[facts]]\nname = "a"\nvalue = "a"\n[[facts]]\nname = "b"\nvalue = "b["\n',
            11,
            "facts[2].value",
            "value",
        ),
        (HEAD + '[[facts]]\nname = "a"\nvalue = "a"\nkeep = 3\n', 6, "facts[1]", "keep is only for"),
        (
            HEAD + '[[facts]]\nname = "a"\nvalue = "a"\ncolour = "red"\n',
            9,
            "facts[1].colour",
            "not permitted",
        ),
        (HEAD + '[[body]]\nlabel = "a"\n', 6, "body[1]", "needs either a value"),
        (HEAD + '[[keys]]\nkind = "phone"\nvalue = "a"\n', 7, "keys[1].kind", "domain"),
    ],
)
def test_an_error_in_a_map_is_found_when_it_is_loaded(
    tmp_path: Path, text: str, line: int | None, field: str, reason: str
) -> None:
    path = tmp_path / "y.toml"
    path.write_text(text)
    with pytest.raises(MapFileInvalid, match=reason) as invalid:
        load_map(path)
    assert (invalid.value.line, invalid.value.field) == (line, field)
    assert str(path) in str(invalid.value)
