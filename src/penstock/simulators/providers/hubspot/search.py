"""HubSpot's CRM search: filter groups, one sort, offsets, and an end at 10,000 results."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.simulators.providers.world.clock import parse_time
from penstock.simulators.providers.world.crm import CrmObject, CrmTable

MOST_RESULTS: Final = 10_000
LARGEST_PAGE: Final = 200
_DATES: Final = frozenset({"createdate", "lastmodifieddate", "hs_lastmodifieddate", "closedate"})
_NUMBERS: Final = frozenset(
    {
        "hs_object_id",
        "amount",
        "numberofemployees",
        "annualrevenue",
        "associatedcompanyid",
        "hs_primary_associated_company",
    }
)
_SEARCHED: Final = ("firstname", "lastname", "email", "company", "name", "domain", "dealname", "phone")


class SearchRefused(Exception):
    """HubSpot answers 400 with this message."""


class Searcher:
    """Searches tables; the last results are kept, since a client asks for page after page of one search.

    So are the last orders: a client that asks for the ids after the last one makes a search of each page, and
    sorting all objects for it would take longer than the sync that is measured.
    """

    def __init__(self) -> None:
        self._found: dict[str, list[CrmObject]] = {}
        self._orders: dict[str, _Order] = {}

    def page(
        self, table: CrmTable, asked: Mapping[str, Any], offset: int, limit: int
    ) -> tuple[list[CrmObject], int]:
        """Objects and the total number of matches."""
        if not 1 <= limit <= LARGEST_PAGE:
            raise SearchRefused(f"The limit must be between 1 and {LARGEST_PAGE}, got {limit}")
        if offset < 0 or offset >= MOST_RESULTS:
            raise SearchRefused(f"Paging beyond {MOST_RESULTS} results is not possible, got {offset}")
        query = {name: asked.get(name) for name in ("filterGroups", "sorts", "query")}
        key = f"{table.kind}/{table.revision}/{json.dumps(query, sort_keys=True)}"
        found = self._found.get(key)
        if found is None:
            try:
                found = self._search(table, query)
            except (AttributeError, TypeError) as error:
                raise SearchRefused(f"Invalid input JSON: {error}") from None
            _keep(self._found, key, found)
        return found[offset : min(offset + limit, MOST_RESULTS)], len(found)

    def _search(self, table: CrmTable, query: Mapping[str, Any]) -> list[CrmObject]:
        groups = query.get("filterGroups") or []
        filters = [group.get("filters") or [] for group in groups]
        if len(groups) > 5 or any(len(each) > 6 for each in filters) or sum(map(len, filters)) > 18:
            raise SearchRefused("Too many filters: at most 5 groups, 6 filters in a group and 18 in total")
        sorts = query.get("sorts") or []
        if len(sorts) > 1:
            raise SearchRefused("Only one sort is supported")
        order = self._order(table, *_sort(sorts))
        if len(groups) == 1 and groups[0].keys() <= {"filters"} and not query.get("query"):
            after = _only_after(filters[0], order)
            if after is not None:
                return order.objects[after:]
        tests = [_group(group) for group in groups]
        words = str(query.get("query") or "").casefold()
        return [
            each
            for each in order.objects
            if (not tests or any(test(each) for test in tests)) and (not words or _mentions(each, words))
        ]

    def _order(self, table: CrmTable, name: str, descending: bool) -> _Order:
        key = f"{table.kind}/{table.revision}/{name}/{descending}"
        order = self._orders.get(key)
        if order is None:
            keyed = sorted(
                ((_value(name, each.properties.get(name)) or 0, int(each.id), each) for each in table.live()),
                key=lambda each: each[:2],
                reverse=descending,
            )
            order = _Order(name, descending, [each[0] for each in keyed], [each[2] for each in keyed])
            _keep(self._orders, key, order)
        return order


@dataclass(frozen=True, slots=True)
class _Order:
    """All objects of a table by one property, with its values."""

    name: str
    descending: bool
    values: list[Any]
    objects: list[CrmObject]


def _keep(kept: dict[str, Any], key: str, value: Any) -> None:
    if len(kept) >= 8:
        kept.pop(next(iter(kept)))
    kept[key] = value


def _only_after(filters: Sequence[Mapping[str, Any]], order: _Order) -> int | None:
    """Where objects begin whose id is greater than the one given, if that is all that is asked."""
    if order.name != "hs_object_id" or order.descending or len(filters) != 1:
        return None
    (only,) = filters
    if only.get("propertyName") != order.name or only.get("operator") != "GT":
        return None
    try:
        return bisect_right(order.values, _value(order.name, str(only.get("value"))))
    except ValueError:
        return None


def _sort(sorts: Sequence[Any]) -> tuple[str, bool]:
    if not sorts:
        return "createdate", False
    if isinstance(sorts[0], str):
        return sorts[0].lstrip("-"), sorts[0].startswith("-")
    return str(sorts[0].get("propertyName")), sorts[0].get("direction") == "DESCENDING"


def _group(group: Mapping[str, Any]) -> Callable[[CrmObject], bool]:
    tests = [_filter(each) for each in group.get("filters") or ()]
    for link in group.get("associatedWith") or ():
        wanted = {str(value) for value in link.get("objectIdValues") or ()}
        tests.append(lambda each, wanted=wanted: each.company in wanted)  # type: ignore[misc]
    return lambda each: all(test(each) for test in tests)


def _filter(given: Mapping[str, Any]) -> Callable[[CrmObject], bool]:
    name, operator = str(given.get("propertyName")), str(given.get("operator"))

    def read(value: Any) -> Any:
        try:
            return _value(name, str(value))
        except ValueError:
            raise SearchRefused(f"The value {value!r} of {name} cannot be read") from None

    def of(each: CrmObject) -> Any:
        return _value(name, each.properties.get(name))

    match operator:
        case "HAS_PROPERTY":
            return lambda each: bool(each.properties.get(name))
        case "NOT_HAS_PROPERTY":
            return lambda each: not each.properties.get(name)
        case "IN" | "NOT_IN":
            values = {read(value) for value in given.get("values") or ()}
            return lambda each: (of(each) in values) is (operator == "IN")
        case "BETWEEN":
            low, high = read(given.get("value")), read(given.get("highValue"))
            return lambda each: (value := of(each)) is not None and low <= value <= high
        case "CONTAINS_TOKEN":
            token = str(given.get("value")).strip("*").casefold()
            return lambda each: token in (each.properties.get(name) or "").casefold()
        case "NEQ":
            other = read(given.get("value"))
            return lambda each: bool(of(each) != other)
        case "EQ" | "LT" | "LTE" | "GT" | "GTE":
            than = read(given.get("value"))
            compare = _COMPARE[operator]
            return lambda each: (value := of(each)) is not None and compare(value, than)
    raise SearchRefused(f"Invalid filter operator: {operator}")


_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "EQ": lambda value, than: value == than,
    "LT": lambda value, than: value < than,
    "LTE": lambda value, than: value <= than,
    "GT": lambda value, than: value > than,
    "GTE": lambda value, than: value >= than,
}


def _value(name: str, text: str | None) -> Any:
    """A property as something to compare: times in milliseconds, numbers, or folded text."""
    if text is None:
        return None
    if name in _DATES:
        return int(parse_time(text).timestamp() * 1000)
    return float(text) if name in _NUMBERS else text.casefold()


def _mentions(each: CrmObject, words: str) -> bool:
    return any(words in (each.properties.get(name) or "").casefold() for name in _SEARCHED)
