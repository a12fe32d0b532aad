"""HubSpot's objects as items, in the shape of its REST API whichever binding they came through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.sources.protocol import Item
from penstock.sources.reading.records import RecordUnusable, required_text
from penstock.sources.reading.times import parse_time

STREAMS: Final = ("companies", "contacts", "deals")
DOCUMENT_TYPES: Final = {
    "companies": "hubspot.company",
    "contacts": "hubspot.contact",
    "deals": "hubspot.deal",
}
PROPERTIES: Final[dict[str, tuple[str, ...]]] = {
    "companies": (
        "name", "domain", "industry", "numberofemployees", "annualrevenue", "description", "website", "phone",
        "city", "country", "lifecyclestage", "createdate", "hs_lastmodifieddate", "hs_object_id",
    ),
    "contacts": (
        "firstname", "lastname", "email", "company", "jobtitle", "lifecyclestage", "industry", "phone",
        "associatedcompanyid", "createdate", "lastmodifieddate", "hs_object_id",
    ),
    "deals": (
        "dealname", "amount", "dealstage", "closedate", "pipeline", "deal_currency_code", "description",
        "hs_is_closed", "hs_is_closed_won", "hs_primary_associated_company", "createdate",
        "hs_lastmodifieddate", "hs_object_id",
    ),
}  # fmt: skip
_CHANGED: Final = {
    "companies": "hs_lastmodifieddate",
    "contacts": "lastmodifieddate",
    "deals": "hs_lastmodifieddate",
}
_COMPANY: Final = {
    "contacts": ("associatedcompanyid", "contact_to_company"),
    "deals": ("hs_primary_associated_company", "deal_to_company"),
}


def item_of(stream: str, record: Mapping[str, Any]) -> Item:
    """Its version is the time of its last change, which no two changes share."""
    given = record.get("properties")
    if not isinstance(given, Mapping):
        raise RecordUnusable("properties", "is missing" if given is None else "is not an object")
    object_id = required_text(record, "id")
    created = record.get("createdAt") or given.get("createdate")
    changed = record.get("updatedAt") or given.get(_CHANGED[stream])
    payload: dict[str, Any] = {
        "id": object_id,
        "properties": dict(given),
        "createdAt": created,
        "updatedAt": changed,
        "archived": bool(record.get("archived")),
    }
    if linked := _associations(stream, record, given):
        payload["associations"] = linked
    return Item(
        id=object_id,
        document_type=DOCUMENT_TYPES[stream],
        payload=payload,
        version=changed if isinstance(changed, str) else None,
        created_at=parse_time(created),
        updated_at=parse_time(changed),
    )


def _associations(stream: str, record: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """Each company once: HubSpot repeats one per label. The search leaves associations out; then the main
    company is known from a property."""
    linked = record.get("associations")
    companies = linked.get("companies") if isinstance(linked, Mapping) else None
    results = companies.get("results") if isinstance(companies, Mapping) else None
    known = {
        each["id"]: each for each in reversed(results or ()) if isinstance(each, Mapping) and "id" in each
    }
    name, link = _COMPANY.get(stream, ("", ""))
    if not known and given.get(name):
        known = {name: {"id": str(given[name]), "type": link}}
    return {"companies": {"results": list(reversed(known.values()))}} if known else None
