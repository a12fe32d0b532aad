"""HubSpot's JSON of CRM objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from penstock.simulators.providers.oauth.vendors import HUB_ID
from penstock.simulators.providers.world.clock import iso_ms
from penstock.simulators.providers.world.crm import CrmObject

DEFAULTS: Final[dict[str, tuple[str, ...]]] = {
    "contacts": ("createdate", "email", "firstname", "hs_object_id", "lastmodifieddate", "lastname"),
    "companies": ("createdate", "domain", "hs_lastmodifieddate", "hs_object_id", "name"),
    "deals": (
        "amount",
        "closedate",
        "createdate",
        "dealname",
        "dealstage",
        "hs_lastmodifieddate",
        "hs_object_id",
        "pipeline",
    ),
}
"""The properties of an object if none are asked for."""

TYPES: Final = {"contacts": "0-1", "companies": "0-2", "deals": "0-3"}
SINGULAR: Final = {"contacts": "contact", "companies": "company", "deals": "deal"}


def properties_of(kind: str, each: CrmObject, asked: Sequence[str]) -> dict[str, str | None]:
    """What was asked for (null if unset), with the three properties that always come."""
    changed = "lastmodifieddate" if kind == "contacts" else "hs_lastmodifieddate"
    names = dict.fromkeys((*asked, "createdate", changed, "hs_object_id")) if asked else DEFAULTS[kind]
    return {name: each.properties.get(name) for name in names}


def crm_object(
    kind: str, each: CrmObject, asked: Sequence[str], associations: Iterable[str] = ()
) -> dict[str, Any]:
    """An object as the REST API shows it."""
    shown: dict[str, Any] = {
        "id": each.id,
        "properties": properties_of(kind, each, asked),
        "createdAt": iso_ms(each.created),
        "updatedAt": iso_ms(each.modified),
        "archived": each.archived is not None,
    }
    if each.archived is not None:
        shown["archivedAt"] = iso_ms(each.archived)
    linked = associated(kind, each, associations)
    if linked:
        shown["associations"] = linked
    return shown


def associated(kind: str, each: CrmObject, asked: Iterable[str]) -> dict[str, Any]:
    """The company, twice: as the primary one and as one without a label."""
    if ("companies" not in asked and "company" not in asked) or each.company is None:
        return {}
    link = f"{SINGULAR[kind]}_to_company"
    ids = [{"id": each.company, "type": link}, {"id": each.company, "type": f"{link}_unlabeled"}]
    return {"companies": {"results": ids}}


def tool_object(
    kind: str, each: CrmObject, asked: Sequence[str], associations: Iterable[str] = ()
) -> dict[str, Any]:
    """An object as the MCP server shows it."""
    url = f"https://app.hubspot.com/contacts/{HUB_ID}/record/{TYPES[kind]}/{each.id}"
    shown: dict[str, Any] = {
        "id": each.id,
        "properties": properties_of(kind, each, asked),
        "urlTemplate": url,
    }
    linked = associated(kind, each, associations)
    return shown | {"associations": linked} if linked else shown
