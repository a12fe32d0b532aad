"""HubSpot's part of the world: contacts, companies and deals with string properties and associations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from penstock.simulators.providers.world.clock import SimulatedClock, iso_ms

CrmType: TypeAlias = Literal["contacts", "companies", "deals"]

CHANGED: Final[dict[str, str]] = {
    "contacts": "lastmodifieddate",
    "companies": "hs_lastmodifieddate",
    "deals": "hs_lastmodifieddate",
}
"""The property that says when an object was changed."""

_FIRST_IDS: Final[dict[str, int]] = {"contacts": 12_001, "companies": 5_300_001, "deals": 90_000_001}
_COMPANY_OF: Final = {"contacts": "associatedcompanyid", "deals": "hs_primary_associated_company"}


@dataclass(slots=True)
class CrmObject:
    """One object; `company` is the id of the company it belongs to."""

    id: str
    properties: dict[str, str | None]
    created: datetime
    modified: datetime
    archived: datetime | None = None
    company: str | None = None


@dataclass(slots=True)
class CrmTable:
    """The objects of one type, ordered by id; `revision` grows with every change."""

    kind: CrmType
    clock: SimulatedClock
    objects: dict[str, CrmObject] = field(default_factory=dict)
    revision: int = 0
    _ids: list[int] = field(default_factory=list)

    def add(
        self, properties: Mapping[str, str | None], *, company: str | None = None, at: datetime | None = None
    ) -> CrmObject:
        now = at or self.clock.now()
        number = self._ids[-1] + 3 if self._ids else _FIRST_IDS[self.kind]
        added = CrmObject(str(number), dict(properties), now, now, company=company)
        added.properties |= {"hs_object_id": added.id, "createdate": iso_ms(now)}
        if company is not None:
            added.properties[_COMPANY_OF[self.kind]] = company
        self.objects[added.id] = added
        self._ids.append(number)
        self._touch(added, now)
        return added

    def change(self, object_id: str, properties: Mapping[str, str | None]) -> CrmObject:
        changed = self.objects[object_id]
        changed.properties.update(properties)
        self._touch(changed, self.clock.now())
        return changed

    def delete(self, object_id: str) -> CrmObject:
        """Archive it: it leaves search and the list, and the list with archived=true shows it."""
        gone = self.objects[object_id]
        gone.archived = self.clock.now()
        self._touch(gone, gone.archived)
        return gone

    def purge(self, object_id: str) -> None:
        """Remove it without a trace, as a deletion for privacy reasons does."""
        del self.objects[object_id]
        self._ids.remove(int(object_id))
        self.revision += 1

    def same_modified_time(self, count: int | None = None) -> datetime:
        """Give the first objects (default: all) one modified time, as a bulk import does."""
        now = self.clock.now()
        for number in self._ids[:count]:
            self._touch(self.objects[str(number)], now)
        return now

    def after(self, object_id: str | None, *, archived: bool) -> Iterable[CrmObject]:
        """The objects from this id on, in order of id."""
        start = bisect_right(self._ids, int(object_id) - 1) if object_id else 0
        for number in self._ids[start:]:
            found = self.objects[str(number)]
            if (found.archived is not None) is archived:
                yield found

    def live(self) -> Iterable[CrmObject]:
        return (each for each in self.objects.values() if each.archived is None)

    def _touch(self, each: CrmObject, now: datetime) -> None:
        each.modified = now
        each.properties[CHANGED[self.kind]] = iso_ms(now)
        if self.kind == "deals":  # HubSpot computes these from the stage
            stage = each.properties.get("dealstage")
            each.properties["hs_is_closed"] = "true" if stage in ("closedwon", "closedlost") else "false"
            each.properties["hs_is_closed_won"] = "true" if stage == "closedwon" else "false"
        self.revision += 1


@dataclass(slots=True)
class Crm:
    """One HubSpot account."""

    contacts: CrmTable
    companies: CrmTable
    deals: CrmTable

    def table(self, kind: str) -> CrmTable | None:
        return {"contacts": self.contacts, "companies": self.companies, "deals": self.deals}.get(kind)
