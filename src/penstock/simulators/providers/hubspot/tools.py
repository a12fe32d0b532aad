"""The tools of HubSpot's MCP server, and the logical methods of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.hubspot.rest import listed
from penstock.simulators.providers.hubspot.search import LARGEST_PAGE, SearchRefused
from penstock.simulators.providers.hubspot.shapes import tool_object
from penstock.simulators.providers.oauth.vendors import HUB_ID, USER_ID
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
from penstock.simulators.providers.world.clock import parse_time
from penstock.simulators.providers.world.crm import CrmTable
from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME

if TYPE_CHECKING:
    from penstock.simulators.providers.hubspot.provider import HubSpot

_TYPE: Final = string("The type of CRM object.", enum=["contacts", "companies", "deals"])
_PROPERTIES: Final = array({"type": "string"}, "Properties to return.")
_ASSOCIATIONS: Final = array({"type": "string"}, "Associated object types to return, such as companies.")
_READ: Final = frozenset(f"crm.objects.{kind}.read" for kind in ("contacts", "companies", "deals"))
_FILTER_GROUPS: Final = array(
    {
        "type": "object",
        "properties": {
            "filters": array({"type": "object"}, "propertyName, operator, value; at most 6."),
            "associatedWith": array({"type": "object"}, "objectType, operator, objectIdValues."),
        },
    },
    "Groups are combined with OR, the filters of a group with AND; at most 5 groups and 18 filters.",
    maxItems=5,
)


class HubSpotTools:
    """The handlers of the tools."""

    def __init__(self, hubspot: HubSpot) -> None:
        self._hubspot = hubspot

    def vendor(self) -> list[Tool]:
        page = object_schema(
            results={"type": "array", "items": {"type": "object"}},
            total={"type": "integer"},
            offset={"type": "integer"},
        )
        return [
            Tool(
                "get_user_details",
                "Returns the authenticated user, the account and per-object access.",
                self._user,
                {},
                output=object_schema(hubId={"type": "integer"}, userId={"type": "integer"}),
            ),
            Tool(
                "search_crm_objects",
                "Searches and filters CRM records with filter groups, text queries, sorting and pagination.",
                self._search,
                {
                    "objectType": _TYPE,
                    "query": string("Text to search for in the default searchable properties."),
                    "filterGroups": _FILTER_GROUPS,
                    "sorts": array(
                        {"type": "object"}, "propertyName and direction; at most one.", maxItems=1
                    ),
                    "properties": _PROPERTIES,
                    "associations": _ASSOCIATIONS,
                    "limit": integer("Results per page.", minimum=1, maximum=LARGEST_PAGE, default=10),
                    "offset": integer("Results to skip.", minimum=0, default=0),
                },
                ["objectType"],
                page,
                _READ,
            ),
            Tool(
                "get_crm_objects",
                "Fetches up to 100 CRM objects by id.",
                self._get,
                {
                    "objectType": _TYPE,
                    "objectIds": array({"type": "string"}, "Ids.", maxItems=100),
                    "properties": _PROPERTIES,
                    "associations": _ASSOCIATIONS,
                },
                ["objectType", "objectIds"],
                object_schema(results={"type": "array", "items": {"type": "object"}}),
                _READ,
            ),
        ]

    def sandbox(self) -> list[Tool]:
        arguments = {
            "limit": integer("Results per page.", minimum=1, maximum=100, default=10),
            "after": string("The cursor paging.next.after of the previous page."),
            "properties": _PROPERTIES,
            "associations": _ASSOCIATIONS,
            "archived": boolean("List archived objects instead."),
            "modifiedSince": string("Only objects modified at or after this time (ISO 8601)."),
        }
        page = object_schema(
            results={"type": "array", "items": {"type": "object"}}, paging={"type": "object"}
        )
        return [
            Tool(
                f"hubspot.crm.{kind}.list",
                f"Lists {kind}.",
                lambda given, kind=kind: self._list(kind, given),  # type: ignore[misc]
                arguments,
                output=page,
                scopes=frozenset({f"crm.objects.{kind}.read"}),
            )
            for kind in ("contacts", "companies", "deals")
        ]

    def _user(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        access = {kind: {"read": True, "write": False} for kind in ("contacts", "companies", "deals")}
        first, last = OWNER_NAME.split()
        user = {"userId": USER_ID, "hubId": HUB_ID, "email": OWNER, "firstName": first, "lastName": last}
        return structured(user | {"hubDomain": "millbrook.example", "objectAccess": access})

    def _search(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        table = self._table(arguments)
        limit = whole_number(arguments, "limit", 10, LARGEST_PAGE)
        offset = skipped(arguments)
        try:
            found, total = self._hubspot.searcher.page(table, arguments, offset, limit)
        except SearchRefused as refused:
            raise ToolFailed(f"HTTP 400: {refused}") from None
        asked, linked = list(arguments.get("properties") or ()), list(arguments.get("associations") or ())
        results = [tool_object(table.kind, each, asked, linked) for each in found]
        return structured({"results": results, "total": total, "offset": offset})

    def _get(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        table = self._table(arguments)
        ids = [str(each) for each in arguments["objectIds"]]
        if len(ids) > 100:
            raise ToolFailed("At most 100 objects can be fetched at once")
        asked, linked = list(arguments.get("properties") or ()), list(arguments.get("associations") or ())
        found = (table.objects.get(each) for each in ids)
        results = [
            tool_object(table.kind, each, asked, linked) for each in found if each and each.archived is None
        ]
        return structured({"results": results})

    def _list(self, kind: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        table = self._table({"objectType": kind})
        after = arguments.get("after")
        if after is not None and not str(after).isdigit():
            raise ToolFailed(f"Invalid paging cursor: {after}")
        limit = whole_number(arguments, "limit", 10, 100)
        try:
            since = parse_time(arguments["modifiedSince"]) if arguments.get("modifiedSince") else None
        except ValueError as error:
            raise ToolFailed(f"Invalid value for modifiedSince: {error}") from None
        return structured(
            listed(
                table,
                limit=limit,
                after=str(after) if after else None,
                archived=bool(arguments.get("archived")),
                asked=list(arguments.get("properties") or ()),
                associations=list(arguments.get("associations") or ()),
                since=since,
            )
        )

    def _table(self, arguments: Mapping[str, Any]) -> CrmTable:
        table = self._hubspot.world.hubspot.table(str(arguments["objectType"]))
        if table is None:
            raise ToolFailed(f"Unknown object type: {arguments['objectType']}")
        return table
