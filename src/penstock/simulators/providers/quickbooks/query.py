"""Intuit's query language: select * from Invoice where … orderby … startposition 1 maxresults 100."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from penstock.simulators.providers.comparisons import COMPARISONS
from penstock.simulators.providers.world.books import Books, BooksTable, Entity, pacific
from penstock.simulators.providers.world.clock import parse_time

Test: TypeAlias = Callable[[Entity], bool]

MOST: Final = 1_000
_QUERY: Final = re.compile(
    r"^\s*select\s+(?P<what>.+?)\s+from\s+(?P<entity>\w+)"
    r"(?:\s+where\s+(?P<where>.+?))?"
    r"(?:\s+order\s*by\s+(?P<order>[\w.]+)(?:\s+(?P<direction>asc|desc))?)?"
    r"(?:\s+startposition\s+(?P<start>\d+))?"
    r"(?:\s+maxresults\s+(?P<most>\d+))?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION: Final = re.compile(
    r"^\s*(?P<field>[\w.]+)\s*(?P<operator>=|!=|<=|>=|<|>|\bin\b|\blike\b)\s*(?P<value>.+?)\s*$",
    re.IGNORECASE | re.DOTALL,
)


_AND: Final = re.compile(r"\s+and\s+(?=(?:[^']*'[^']*')*[^']*$)", re.IGNORECASE)  # not within quotes


class QueryRefused(Exception):
    """Intuit answers with a ValidationFault: its message, detail and code."""

    def __init__(self, message: str, detail: str, code: str) -> None:
        super().__init__(f"{message}: {detail}")
        self.message, self.detail, self.code = message, detail, code


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a query, or only their number."""

    entity: str
    rows: list[dict[str, Any]]
    start: int
    count: int | None = None


def shown(entity: Entity) -> dict[str, Any]:
    """An entity as JSON."""
    if entity.deleted:
        changed = {"LastUpdatedTime": pacific(entity.modified)}
        return {"domain": "QBO", "status": "Deleted", "Id": entity.id, "MetaData": changed}
    return {
        **entity.fields,
        "domain": "QBO",
        "sparse": False,
        "Id": entity.id,
        "SyncToken": str(entity.sync_token),
        "MetaData": {"CreateTime": pacific(entity.created), "LastUpdatedTime": pacific(entity.modified)},
    }


def run_query(books: Books, text: str) -> Found:
    parsed = _QUERY.match(text)
    if parsed is None:
        raise QueryRefused("Error parsing query", f"QueryParserError: {text[:80]!r}", "4000")
    table = books.table(parsed["entity"].capitalize())
    if table is None:
        raise QueryRefused("Invalid query", f"QueryValidationError: no entity {parsed['entity']}", "4001")
    start, most = int(parsed["start"] or 1), int(parsed["most"] or 100)
    if most > MOST or start < 1:
        raise QueryRefused("Invalid query", "QueryValidationError: Max allowed value is 1,000.", "4001")
    conditions = _AND.split(parsed["where"]) if parsed["where"] else []
    rows = select(table, [_condition(each) for each in conditions], parsed["order"], parsed["direction"])
    if parsed["what"].replace(" ", "").lower() == "count(*)":
        return Found(table.kind, [], start, len(rows))
    return Found(table.kind, [shown(each) for each in rows[start - 1 : start - 1 + most]], start)


def select(
    table: BooksTable, conditions: list[Mapping[str, Any]], order: str | None, direction: str | None
) -> list[Entity]:
    """The matching entities; customers that are not active only if a condition names Active."""
    tests = [_test(each) for each in conditions]
    if table.kind == "Customer" and not any(each["field"].lower() == "active" for each in conditions):
        tests.append(lambda entity: entity.active)
    rows = [entity for entity in table.existing() if all(test(entity) for test in tests)]
    field = order or "Id"
    rows.sort(
        key=lambda entity: (_comparable(read(entity, field)), int(entity.id)),
        reverse=(direction or "").lower() == "desc",
    )
    return rows


def read(entity: Entity, field: str) -> Any:
    """A field by its dotted name; references compare by their value."""
    match field.lower():
        case "id":
            return int(entity.id)
        case "metadata.lastupdatedtime":
            return entity.modified
        case "metadata.createtime":
            return entity.created
        case "active":
            return entity.active
    value: Any = entity.fields
    for part in field.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value.get("value", value.get("Address")) if isinstance(value, Mapping) else value


def _condition(text: str) -> Mapping[str, Any]:
    parsed = _CONDITION.match(text)
    if parsed is None:
        raise QueryRefused("Error parsing query", f"QueryParserError: {text[:80]!r}", "4000")
    value = parsed["value"].strip()
    values = [part.strip().strip("'") for part in value.strip("()").split(",")]
    if parsed["operator"].lower() == "in":
        return {"field": parsed["field"], "operator": "IN", "value": values}
    return {"field": parsed["field"], "operator": parsed["operator"].upper(), "value": value.strip("'")}


def _test(condition: Mapping[str, Any]) -> Test:
    field, operator = str(condition["field"]), str(condition.get("operator") or "=").upper()
    given = condition.get("value")
    if operator == "IN":
        wanted = {str(each).lower() for each in (given if isinstance(given, list) else [given])}
        return lambda entity: str(read(entity, field)).lower() in wanted
    if operator == "LIKE":
        pattern = re.compile(re.escape(str(given)).replace("%", ".*"), re.IGNORECASE)
        return lambda entity: bool(pattern.fullmatch(str(read(entity, field) or "")))
    compare = COMPARISONS.get(operator)
    if compare is None:
        raise QueryRefused("Invalid query", f"QueryValidationError: operator {operator}", "4001")

    def test(entity: Entity) -> bool:
        value = read(entity, field)
        return value is not None and compare(value, _like(given, value))

    return test


def _like(given: Any, value: Any) -> Any:
    """What was given, as the kind of value it is compared with."""
    try:
        if hasattr(value, "tzinfo"):
            return parse_time(str(given))
        if isinstance(value, bool):
            return str(given).lower() == "true"
        return type(value)(given)
    except ValueError:
        raise QueryRefused("Invalid query", f"QueryValidationError: value {given!r}", "4001") from None


def _comparable(value: Any) -> Any:
    return "" if value is None else value
