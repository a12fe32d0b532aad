"""Intuit's REST API: query, change data capture and company info."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.oauth.vendors import REALM_ID
from penstock.simulators.providers.quickbooks import errors
from penstock.simulators.providers.quickbooks.query import Found, QueryRefused, run_query, shown
from penstock.simulators.providers.world.books import pacific
from penstock.simulators.providers.world.clock import parse_time

if TYPE_CHECKING:
    from starlette.responses import Response

    from penstock.simulators.providers.quickbooks.provider import QuickBooks

READ: Final = frozenset({"com.intuit.quickbooks.accounting"})
MOST_CHANGES: Final = 1_000


def endpoints(quickbooks: QuickBooks) -> list[Endpoint]:
    rest = QuickBooksRest(quickbooks)
    company = "/v3/company/{realm}"
    return [
        Endpoint("GET", f"{company}/query", "query", rest.query, scopes=READ),
        Endpoint("POST", f"{company}/query", "query", rest.query, scopes=READ),
        Endpoint("GET", f"{company}/cdc", "cdc", rest.cdc, scopes=READ),
        Endpoint("GET", company + "/companyinfo/{id}", "companyinfo", rest.info, "identity", READ),
    ]


def rows_of(found: Found) -> dict[str, Any]:
    """A QueryResponse; without matches it is empty."""
    if found.count is not None:
        return {"totalCount": found.count}
    if not found.rows:
        return {}
    return {found.entity: found.rows, "startPosition": found.start, "maxResults": len(found.rows)}


class QuickBooksRest:
    """The handlers."""

    def __init__(self, quickbooks: QuickBooks) -> None:
        self._quickbooks = quickbooks

    def query(self, call: Call) -> Response:
        if call.path["realm"] != REALM_ID:
            return errors.forbidden()
        now = self._quickbooks.world.clock.now()
        text = call.query.get("query") or (call.body.decode() if call.request.method == "POST" else "")
        try:
            found = run_query(self._quickbooks.world.quickbooks, text)
        except QueryRefused as refused:
            return errors.fault(now, refused.message, refused.detail, refused.code)
        return errors.answer({"QueryResponse": rows_of(found), "time": pacific(now)})

    def cdc(self, call: Call) -> Response:
        """Changes of the last 30 days, at most 1,000 of all entities together."""
        if call.path["realm"] != REALM_ID:
            return errors.forbidden()
        now = self._quickbooks.world.clock.now()
        try:
            since = parse_time(call.query.get("changedSince", "").replace(" ", "+"))
        except ValueError:
            return errors.fault(now, "Invalid date", f"{call.query.get('changedSince')}", "2050")
        if now - since > timedelta(days=30):
            return errors.fault(now, "Invalid date", "changedSince is more than 30 days ago", "2050")
        left, parts = MOST_CHANGES, []
        for name in call.query.get("entities", "").split(","):
            table = self._quickbooks.world.quickbooks.table(name.strip())
            if table is None:
                return errors.fault(now, "Invalid Enumeration", f"Unknown entity: {name}", "2030")
            changed = sorted(
                (each for each in table.entities.values() if each.modified >= since),
                key=lambda each: (each.modified, int(each.id)),
            )[:left]
            left -= len(changed)
            rows = [shown(each) for each in changed]
            total = {"startPosition": 1, "maxResults": len(rows), "totalCount": len(rows)}
            parts.append({name.strip(): rows, **total} if rows else {})
        return errors.answer({"CDCResponse": [{"QueryResponse": parts}], "time": pacific(now)})

    def info(self, call: Call) -> Response:
        if call.path["realm"] != REALM_ID:
            return errors.forbidden()
        now = self._quickbooks.world.clock.now()
        company = {
            "CompanyName": "Millbrook Consulting",
            "LegalName": "Millbrook Consulting LLC",
            "Country": "US",
            "Email": {"Address": "books@millbrook.example"},
            "domain": "QBO",
            "Id": "1",
            "SyncToken": "3",
        }
        return errors.answer({"CompanyInfo": company, "time": pacific(now)})
