"""Changes to the simulated records, described as JSON: for /_control and for changes between two pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.simulators.providers.mail_changes import change_mail
from penstock.simulators.providers.world.drive import DOC
from penstock.simulators.providers.world.mail import OWNER, OWNER_NAME
from penstock.simulators.providers.world.world import World

KINDS: Final = ("contacts", "companies", "deals", "customers", "invoices", "files", "threads", "mails")
ACTIONS: Final = ("add", "change", "move", "delete", "trash", "purge", "same_modified_time")


class ChangeRefused(ValueError):
    """The change names a record or an action that does not exist."""


def apply_change(world: World, change: Mapping[str, Any]) -> list[str]:
    """Make one change; the ids of the records it concerned.

    `{"kind": "contacts", "action": "add", "count": 3, "fields": {"firstname": "Ada"}}`. Without an id, change
    and delete take the first record that still exists.
    """
    kind, action = change.get("kind"), change.get("action")
    if kind not in KINDS or action not in ACTIONS:
        raise ChangeRefused(
            f"cannot {action} {kind}; kind is one of {', '.join(KINDS)}, action one of {', '.join(ACTIONS)}"
        )
    if action == "move" and kind != "mails":
        raise ChangeRefused("only mails can be moved")
    fields = dict(change.get("fields") or {})
    try:
        if action == "same_modified_time":
            return _same_time(world, kind, change.get("count"))
        made = []
        for number in range(int(change.get("count") or 1)):
            target = str(change["id"]) if change.get("id") else None
            match kind:
                case "contacts" | "companies" | "deals":
                    made.append(_crm(world, kind, action, target, fields, number))
                case "customers" | "invoices":
                    made.append(_books(world, kind, action, target, fields))
                case "files":
                    made.append(_file(world, action, target, fields))
                case "mails":
                    made.append(change_mail(world, action, target, fields))
                case _:
                    made.append(_thread(world, action, target, fields))
    except (KeyError, StopIteration):
        raise ChangeRefused(
            f"there is no record to {action} in {kind} with the id {change.get('id')}"
        ) from None
    return made


def _same_time(world: World, kind: str, count: int | None) -> list[str]:
    table = world.hubspot.table(kind)
    if table is None:
        raise ChangeRefused("same_modified_time is for contacts, companies and deals")
    table.same_modified_time(count)
    return []


def _crm(
    world: World, kind: str, action: str, target: str | None, fields: dict[str, Any], number: int
) -> str:
    table = world.hubspot.table(kind)
    assert table is not None
    if action == "add":
        company = fields.pop("company_id", None)
        names = {"contacts": "email", "companies": "name", "deals": "dealname"}
        fields.setdefault(names[kind], f"added-{table.revision}-{number}@new.example")
        return table.add(fields, company=company).id
    target = target or next(iter(table.live())).id
    match action:
        case "change":
            table.change(target, fields or {"lifecyclestage": f"changed-{table.revision}"})
        case "purge":
            table.purge(target)
        case _:
            table.delete(target)
    return target


def _books(world: World, kind: str, action: str, target: str | None, fields: dict[str, Any]) -> str:
    books = world.quickbooks
    table = books.customers if kind == "customers" else books.invoices
    if action == "add" and kind == "customers":
        name = fields.get("DisplayName", f"Added customer {table.last_id + 1}")
        base = {"DisplayName": name, "CompanyName": name, "Balance": 0.0, "Active": True}
        return table.add(base | fields).id
    if action == "add":
        owner = next(iter(books.customers.existing()))
        day = f"{world.clock.now():%Y-%m-%d}"
        base = {
            "DocNumber": str(1001 + table.last_id),
            "TxnDate": day,
            "DueDate": day,
            "CustomerRef": {"value": owner.id, "name": owner.fields["DisplayName"]},
            "CurrencyRef": {"value": "USD", "name": "United States Dollar"},
            "TotalAmt": 100.0,
            "Balance": 100.0,
        }
        return books.add_invoice(base | fields).id
    target = target or next(each.id for each in table.existing() if each.active)
    if action == "change":
        changed = fields or {"PrivateNote": f"changed {table.revision}"}
        (books.change_invoice if kind == "invoices" else table.change)(target, changed)
    else:
        (books.delete_invoice if kind == "invoices" else table.delete)(target)
    return target


def _file(world: World, action: str, target: str | None, fields: dict[str, Any]) -> str:
    drive = world.drive
    if action == "add":
        name, mime = fields.get("name", "Added document"), fields.get("mimeType", DOC)
        text = fields.get("text", "Added by the simulator.")
        if size := fields.get("size"):
            text = "x" * int(size)
        return drive.add(name, mime, text=text).id
    target = target or next(each.id for each in drive.files.values() if each.mime == DOC and not each.trashed)
    match action:
        case "change":
            text = fields.get("text") or f"Changed by the simulator ({drive.revision})."
            drive.change(target, text=text, name=fields.get("name"))
        case "trash":
            drive.trash(target)
        case _:
            drive.delete(target)
    return target


def _thread(world: World, action: str, target: str | None, fields: dict[str, Any]) -> str:
    mailbox = world.gmail
    if action in ("add", "change"):
        thread = target if action == "add" else target or next(iter(mailbox.newest_first()))
        added = mailbox.add(
            sender=fields.get("from", "New Sender <new@sender.example>"),
            subject=fields.get("subject", "New mail"),
            text=fields.get("text", "Sent by the simulator.\n"),
            to=(f"{OWNER_NAME} <{OWNER}>",),
            thread_id=thread,
            headers=fields.get("headers"),
        )
        return added.thread_id
    target = target or next(iter(mailbox.newest_first()))
    if action == "trash":
        mailbox.trash(target)
    else:
        mailbox.delete(target)
    return target
