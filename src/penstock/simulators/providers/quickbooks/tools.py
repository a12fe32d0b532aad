"""The tools of Intuit's open MCP server (text only, errors included), and the sandbox's methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.quickbooks.query import Found, QueryRefused, select, shown
from penstock.simulators.providers.quickbooks.rest import READ, rows_of
from penstock.simulators.providers.tools import (
    Tool,
    ToolAnswer,
    ToolFailed,
    array,
    boolean,
    integer,
    object_schema,
    skipped,
    string,
    structured,
    whole_number,
)
from penstock.simulators.providers.world.books import pacific

if TYPE_CHECKING:
    from penstock.simulators.providers.quickbooks.provider import QuickBooks

_CRITERIA: Final = array({"type": "object"}, "Conditions: field, value, operator.")


class QuickBooksTools:
    """The handlers of the tools."""

    def __init__(self, quickbooks: QuickBooks) -> None:
        self._quickbooks = quickbooks

    def vendor(self) -> list[Tool]:
        customers = {
            "criteria": _CRITERIA,
            "limit": integer("Customers to return.", minimum=1, maximum=1_000),
            "offset": integer("Customers to skip.", minimum=0),
            "asc": string("Field to sort by."),
            "desc": string("Field to sort by, descending."),
        }
        invoices = {"criteria": {"description": "Conditions, or an object with filters, limit and offset."}}
        return [
            Tool(
                "search_customers",
                "Search customers in QuickBooks Online that match given criteria.",
                self._customers,
                customers,
                scopes=READ,
                plain_errors="Error searching customers",
            ),
            Tool(
                "search_invoices",
                "Search invoices in QuickBooks Online using criteria.",
                self._invoices,
                invoices,
                scopes=READ,
                plain_errors="Error searching invoices",
            ),
        ]

    def sandbox(self) -> list[Tool]:
        arguments = {
            "limit": integer("Rows per page.", minimum=1, maximum=1_000, default=100),
            "after": string("The cursor paging.next.after of the previous page."),
            "modifiedSince": string("Only rows modified at or after this time (ISO 8601)."),
            "includeInactive": boolean("Also customers that are not active."),
        }
        page = object_schema(QueryResponse={"type": "object"}, paging={"type": "object"})
        return [
            Tool(
                f"quickbooks.{kind.lower()}s.list",
                f"Lists {kind.lower()}s.",
                lambda given, kind=kind: self._list(kind, given),  # type: ignore[misc]
                arguments,
                output=page,
                scopes=READ,
            )
            for kind in ("Customer", "Invoice")
        ]

    def _customers(self, given: Mapping[str, Any]) -> ToolAnswer:
        arguments = _flat(given)
        rows = self._select("Customer", arguments.get("criteria"), arguments)
        found = json.dumps(rows, ensure_ascii=False)
        return ToolAnswer((f"Found {len(rows)} customer(s):", found))

    def _invoices(self, given: Mapping[str, Any]) -> ToolAnswer:
        criteria = _flat(given).get("criteria")
        more = criteria if isinstance(criteria, dict) else {}
        filters = more.get("filters") if "filters" in more or not more else criteria
        rows = self._select("Invoice", filters if more else criteria, more)
        said = f"Found {len(rows)} invoices"
        return ToolAnswer((said, *(json.dumps(row, ensure_ascii=False) for row in rows)))

    def _select(self, kind: str, criteria: Any, more: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Rows by the server's own criteria; 100 of them unless a limit is given."""
        table = self._quickbooks.world.quickbooks.table(kind)
        assert table is not None
        conditions = _conditions(criteria)
        limit = whole_number(more, "limit", 100, 1_000)
        offset = skipped(more)
        direction = "desc" if more.get("desc") else "asc"
        try:
            rows = select(table, conditions, more.get("desc") or more.get("asc"), direction)
        except (QueryRefused, TypeError) as refused:
            raise ToolFailed(str(refused)) from None
        if more.get("fetchAll"):
            return [shown(row) for row in rows]
        return [shown(row) for row in rows[offset : offset + limit]]

    def _list(self, kind: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        after = str(arguments.get("after") or 1)
        if not after.isdigit():
            raise ToolFailed(f"Invalid cursor: {after}")
        limit, start = whole_number(arguments, "limit", 100, 1_000), int(after)
        conditions: list[Mapping[str, Any]] = []
        if since := arguments.get("modifiedSince"):
            conditions.append({"field": "MetaData.LastUpdatedTime", "operator": ">=", "value": since})
        if arguments.get("includeInactive") and kind == "Customer":
            conditions.append({"field": "Active", "operator": "IN", "value": ["true", "false"]})
        table = self._quickbooks.world.quickbooks.table(kind)
        assert table is not None
        try:
            rows = select(table, conditions, None, None)
        except QueryRefused as refused:
            raise ToolFailed(str(refused)) from None
        page = [shown(row) for row in rows[start - 1 : start - 1 + limit]]
        body: dict[str, Any] = {"QueryResponse": rows_of(Found(kind, page, start))}
        if start - 1 + limit < len(rows):
            body["paging"] = {"next": {"after": str(start + limit)}}
        return structured(body | {"time": pacific(self._quickbooks.world.clock.now())})


def _flat(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some releases of the server take their arguments in `params`."""
    nested = arguments.get("params")
    return nested if isinstance(nested, dict) else arguments


def _conditions(criteria: Any) -> list[Mapping[str, Any]]:
    """A list of conditions, or an object of equalities."""
    if not criteria:
        return []
    if isinstance(criteria, dict):
        return [{"field": field, "value": value} for field, value in criteria.items()]
    if not isinstance(criteria, list) or not all(
        isinstance(each, dict) and "field" in each for each in criteria
    ):
        raise ToolFailed("Invalid criteria: each needs field and value")
    return list(criteria)
