"""HubSpot's REST API: list, read and search CRM objects, by the v3 and the date-versioned paths."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.hubspot import errors
from penstock.simulators.providers.hubspot.search import SearchRefused
from penstock.simulators.providers.hubspot.shapes import crm_object
from penstock.simulators.providers.world.crm import CrmTable

if TYPE_CHECKING:
    from penstock.simulators.providers.hubspot.provider import HubSpot


def endpoints(hubspot: HubSpot) -> list[Endpoint]:
    rest = HubSpotRest(hubspot)
    made: list[Endpoint] = []
    for root in ("/crm/v3/objects/{kind}", "/crm/objects/2026-03/{kind}"):
        made += [
            Endpoint("GET", root, "crm.objects.list", rest.list_objects),
            Endpoint("POST", f"{root}/search", "crm.objects.search", rest.search),
            Endpoint("POST", f"{root}/batch/read", "crm.objects.batch_read", rest.batch_read),
            Endpoint("GET", root + "/{id}", "crm.objects.get", rest.get),
        ]
    return made


def listed(
    table: CrmTable,
    *,
    limit: int,
    after: str | None,
    archived: bool,
    asked: list[str],
    associations: list[str],
    link: str | None = None,
    since: datetime | None = None,
) -> dict[str, Any]:
    """A page in order of id; the cursor is the id after the last one, so changes do not shift it."""
    matching = (
        each for each in table.after(after, archived=archived) if since is None or each.modified >= since
    )
    page = list(islice(matching, limit + 1))
    body: dict[str, Any] = {
        "results": [crm_object(table.kind, each, asked, associations) for each in page[:limit]]
    }
    if len(page) > limit:
        cursor = str(int(page[limit - 1].id) + 1)
        body["paging"] = {"next": {"after": cursor}}
        if link is not None:
            body["paging"]["next"]["link"] = f"{link}?limit={limit}&after={cursor}"
    return body


class HubSpotRest:
    """The handlers."""

    def __init__(self, hubspot: HubSpot) -> None:
        self._hubspot = hubspot

    def list_objects(self, call: Call) -> Response:
        table = self._table(call)
        if isinstance(table, Response):
            return table
        query = call.query
        limit, after = query.get("limit", "10"), query.get("after")
        if not limit.isdigit() or not 1 <= int(limit) <= 100:
            return errors.error(
                400, f"Invalid input: limit must be 1 to 100, got {limit}", "VALIDATION_ERROR"
            )
        if after is not None and not after.isdigit():
            return errors.error(400, f"Invalid paging cursor: {after}", "VALIDATION_ERROR")
        body = listed(
            table,
            limit=int(limit),
            after=after,
            archived=query.get("archived") == "true",
            asked=names(call, "properties"),
            associations=names(call, "associations"),
            link=f"{call.base}{call.request.url.path}",
        )
        return JSONResponse(body, headers=errors.LIMITS)

    def search(self, call: Call) -> Response:
        table = self._table(call)
        if isinstance(table, Response):
            return table
        asked = call.json if isinstance(call.json, dict) else {}
        if not isinstance(asked.get("properties") or [], list):
            return errors.error(400, "Invalid input JSON", "VALIDATION_ERROR")
        limit, after = str(asked.get("limit") or 10), str(asked.get("after") or "0")
        try:
            offset = int(after) if after.isdigit() else -1
            size = int(limit) if limit.isdigit() else -1
            found, total = self._hubspot.searcher.page(table, asked, offset, size)
        except SearchRefused as refused:
            return errors.error(400, str(refused), "VALIDATION_ERROR")
        shown = [str(each) for each in asked.get("properties") or () if isinstance(each, str)]
        body: dict[str, Any] = {
            "total": total,
            "results": [crm_object(table.kind, each, shown) for each in found],
        }
        if offset + len(found) < total:
            body["paging"] = {"next": {"after": str(offset + len(found))}}
        return JSONResponse(body, headers=errors.LIMITS)

    def batch_read(self, call: Call) -> Response:
        table = self._table(call)
        if isinstance(table, Response):
            return table
        asked = call.json if isinstance(call.json, dict) else {}
        inputs, shown = asked.get("inputs") or [], asked.get("properties") or []
        lists = isinstance(inputs, list) and isinstance(shown, list)
        if not lists or not all(isinstance(each, dict) for each in inputs):
            return errors.error(400, "Invalid input JSON", "VALIDATION_ERROR")
        ids = [str(each.get("id")) for each in inputs]
        if len(ids) > 100:
            return errors.error(400, "At most 100 objects can be read at once", "VALIDATION_ERROR")
        found = [
            table.objects[each] for each in ids if each in table.objects and not table.objects[each].archived
        ]
        results = [crm_object(table.kind, each, shown) for each in found]
        return JSONResponse(
            {"status": "COMPLETE", "results": results}, 200 if len(found) == len(ids) else 207
        )

    def get(self, call: Call) -> Response:
        table = self._table(call)
        if isinstance(table, Response):
            return table
        found = table.objects.get(call.path["id"])
        if found is None or (found.archived is not None) is not (call.query.get("archived") == "true"):
            return errors.error(404, "resource not found", "OBJECT_NOT_FOUND")
        shown = crm_object(table.kind, found, names(call, "properties"), names(call, "associations"))
        return JSONResponse(shown, headers=errors.LIMITS)

    def _table(self, call: Call) -> CrmTable | Response:
        kind = call.path["kind"]
        table = self._hubspot.world.hubspot.table(kind)
        if table is None:
            return errors.error(400, f"Unable to infer object type from: {kind}", "VALIDATION_ERROR")
        scope = f"crm.objects.{kind}.read"
        if call.grant is not None and scope not in call.grant.scopes:
            return errors.missing_scopes([scope])
        return table


def names(call: Call, parameter: str) -> list[str]:
    """A list in the query: repeated, or separated by commas."""
    given = call.request.query_params.getlist(parameter)
    return [name for each in given for name in each.split(",") if name]
