"""QuickBooks' part of the world: customers and invoices whose open balances agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Literal, TypeAlias

from penstock.simulators.providers.world.clock import SimulatedClock

BooksType: TypeAlias = Literal["Customer", "Invoice"]


@dataclass(slots=True)
class Entity:
    """One customer or invoice; `fields` is its JSON without Id, SyncToken and MetaData."""

    id: str
    fields: dict[str, Any]
    created: datetime
    modified: datetime
    sync_token: int = 0
    deleted: bool = False

    @property
    def active(self) -> bool:
        return bool(self.fields.get("Active", True))


@dataclass(slots=True)
class BooksTable:
    """The entities of one type, in order of id."""

    kind: BooksType
    clock: SimulatedClock
    entities: dict[str, Entity] = field(default_factory=dict)
    revision: int = 0
    last_id: int = 0

    def add(self, fields: Mapping[str, Any], *, at: datetime | None = None) -> Entity:
        now = at or self.clock.now()
        self.last_id += 1
        added = Entity(str(self.last_id), dict(fields), now, now)
        self.entities[added.id] = added
        self.revision += 1
        return added

    def change(self, entity_id: str, fields: Mapping[str, Any]) -> Entity:
        changed = self.entities[entity_id]
        changed.fields.update(fields)
        return self._touched(changed)

    def delete(self, entity_id: str) -> Entity:
        """A customer becomes inactive; an invoice disappears from queries and shows up in CDC as Deleted."""
        gone = self.entities[entity_id]
        if self.kind == "Customer":
            gone.fields["Active"] = False
        else:
            gone.deleted = True
        return self._touched(gone)

    def existing(self) -> Iterable[Entity]:
        return (each for each in self.entities.values() if not each.deleted)

    def _touched(self, entity: Entity) -> Entity:
        entity.sync_token += 1
        entity.modified = self.clock.now()
        self.revision += 1
        return entity


@dataclass(slots=True)
class Books:
    """One QuickBooks company; a change of an invoice also changes its customer's balance."""

    customers: BooksTable
    invoices: BooksTable

    def table(self, kind: str) -> BooksTable | None:
        return {"Customer": self.customers, "Invoice": self.invoices}.get(kind)

    def add_invoice(self, fields: Mapping[str, Any], *, at: datetime | None = None) -> Entity:
        added = self.invoices.add(fields, at=at)
        self._owe(added, balance_of(added))
        return added

    def change_invoice(self, invoice_id: str, fields: Mapping[str, Any]) -> Entity:
        before = balance_of(self.invoices.entities[invoice_id])
        changed = self.invoices.change(invoice_id, fields)
        self._owe(changed, balance_of(changed) - before)
        return changed

    def delete_invoice(self, invoice_id: str) -> Entity:
        gone = self.invoices.delete(invoice_id)
        self._owe(gone, -balance_of(gone))
        return gone

    def _owe(self, invoice: Entity, amount: float) -> None:
        owner = self.customers.entities.get(str(invoice.fields.get("CustomerRef", {}).get("value")))
        if owner is not None and amount:
            balance = round(float(owner.fields["Balance"]) + amount, 2)
            self.customers.change(owner.id, {"Balance": balance, "BalanceWithJobs": balance})


def pacific(moment: datetime) -> str:
    """A time as QuickBooks writes it, with an offset of seven or eight hours by season."""
    offset = timezone(timedelta(hours=-7 if 3 <= moment.astimezone(UTC).month <= 10 else -8))
    return moment.astimezone(offset).isoformat(timespec="seconds")


def balance_of(invoice: Entity) -> float:
    return float(invoice.fields.get("Balance", 0))
