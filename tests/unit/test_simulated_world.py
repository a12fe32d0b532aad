"""The simulated world is the same for the same seed, makes sense, and records every change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock.simulators.providers import SimulatedClock, World
from penstock.simulators.providers.changes import ChangeRefused, apply_change
from penstock.simulators.providers.world.clock import iso_ms
from penstock.simulators.providers.world.drive import DOC, FOLDER, PDF, SHEET, SHORTCUT, TEXT
from penstock.simulators.providers.world.mail import OWNER

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def made(seed: int = 1, contacts: int = 60) -> World:
    return World(seed, contacts=contacts, clock=SimulatedClock(NOW))


def test_the_same_seed_makes_the_same_records() -> None:
    first, second, other = made(), made(), made(2)
    assert first.hubspot.contacts.objects == second.hubspot.contacts.objects
    assert first.quickbooks.invoices.entities == second.quickbooks.invoices.entities
    assert first.gmail.messages == second.gmail.messages
    assert list(first.drive.files) == list(second.drive.files)
    both = [[each.sent for each in world.outlook.mailbox(OWNER).items.values()] for world in (first, second)]
    assert both[0] == both[1]
    texts = [[world.drive.text_of(file) for file in world.drive.files.values()] for world in (first, second)]
    assert texts[0] == texts[1]
    assert first.hubspot.contacts.objects != other.hubspot.contacts.objects


def test_every_provider_tells_about_the_same_companies() -> None:
    world = made()
    crm, books = world.hubspot, world.quickbooks
    domains = {each.properties["domain"] for each in crm.companies.objects.values()} - {None}
    for contact in crm.contacts.objects.values():
        assert contact.company is not None
        employer = crm.companies.objects[contact.company].properties
        assert contact.properties["company"] == employer["name"]
        address, site = contact.properties["email"], employer["website"]
        assert address is not None
        assert f"https://www.{address.partition('@')[2]}" == site
    for deal in crm.deals.objects.values():
        assert deal.company is None or deal.company in crm.companies.objects
    billed = {
        each.fields["PrimaryEmailAddr"]["Address"].partition("@")[2] for each in books.customers.existing()
    }
    assert len(billed & domains) > len(billed) * 0.8
    for customer in books.customers.existing():
        owed = [
            each.fields["Balance"]
            for each in books.invoices.existing()
            if each.fields["CustomerRef"]["value"] == customer.id
        ]
        assert customer.fields["Balance"] == pytest.approx(sum(owed))
    names = [company.name for company in world.companies]
    notes = [file for file in world.drive.files.values() if file.person is not None and not file.trashed]
    assert all(any(name in file.name for name in names) for file in notes)
    senders = {mail.sender.rpartition("@")[2].rstrip(">") for mail in world.gmail.messages.values()}
    mails = world.outlook.mailbox(OWNER).items.values()
    senders |= {mail.sent.header("From").rpartition("@")[2].rstrip(">") for mail in mails}
    assert senders - {"millbrook.example"} <= {company.domain for company in world.companies}


def test_a_drive_has_one_of_everything() -> None:
    files = made(contacts=1).drive.files.values()
    assert {DOC, SHEET, PDF, TEXT, FOLDER, SHORTCUT} <= {file.mime for file in files}
    assert [file.name for file in files if file.trashed] == ["Old draft"]


def test_a_change_moves_the_modified_time_to_the_clock() -> None:
    world = made()
    contacts = world.hubspot.contacts
    first = next(iter(contacts.live()))
    assert first.modified < world.anchor
    world.clock.advance(5)
    contacts.change(first.id, {"jobtitle": "Astronaut"})
    assert first.properties["lastmodifieddate"] == iso_ms(NOW + timedelta(seconds=5))
    contacts.delete(first.id)
    assert first.id not in [each.id for each in contacts.live()]
    assert [each.id for each in contacts.after(None, archived=True)] == [first.id]


def test_a_deal_is_closed_by_its_stage() -> None:
    deals = made().hubspot.deals
    deal = next(each for each in deals.live() if each.properties["hs_is_closed"] == "false")
    deals.change(deal.id, {"dealstage": "closedwon"})
    assert (deal.properties["hs_is_closed"], deal.properties["hs_is_closed_won"]) == ("true", "true")
    deals.change(deal.id, {"dealstage": "closedlost"})
    assert (deal.properties["hs_is_closed"], deal.properties["hs_is_closed_won"]) == ("true", "false")


def test_an_invoice_that_is_paid_or_deleted_changes_the_balance_of_its_customer() -> None:
    books = made().quickbooks
    invoice = next(each for each in books.invoices.existing() if each.fields["Balance"] > 0)
    customer = books.customers.entities[invoice.fields["CustomerRef"]["value"]]
    owed, version = customer.fields["Balance"], customer.sync_token
    due = invoice.fields["Balance"]
    books.change_invoice(invoice.id, {"Balance": 0.0})
    assert customer.fields["Balance"] == pytest.approx(owed - due)
    books.change_invoice(invoice.id, {"Balance": due})
    books.delete_invoice(invoice.id)
    assert customer.fields["Balance"] == pytest.approx(owed - due)
    assert (customer.sync_token, customer.modified, invoice.deleted) == (version + 3, NOW, True)


def test_drive_and_gmail_log_what_changed() -> None:
    world = made()
    added = world.drive.add("Plan", text="one")
    world.drive.change(added.id, text="two")
    world.drive.delete(added.id)
    assert [(each.file_id, each.removed) for each in world.drive.changes] == [
        (added.id, False), (added.id, False), (added.id, True),
    ]  # fmt: skip
    before = world.gmail.history_id
    mail = world.gmail.add(sender="a@b.example", subject="Hi", text="Hello")
    world.gmail.trash(mail.thread_id)
    world.gmail.delete(mail.thread_id)
    assert [each.kind for each in world.gmail.history if each.id > before] == [
        "messagesAdded", "labelsAdded", "labelsRemoved", "messagesDeleted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["contacts", "companies", "deals", "customers", "invoices", "files", "threads", "mails"]
)
def test_every_kind_can_be_added_changed_and_deleted_by_description(kind: str) -> None:
    world = made(contacts=10)
    (added,) = apply_change(world, {"kind": kind, "action": "add"})
    assert apply_change(world, {"kind": kind, "action": "change", "id": added}) == [added]
    assert apply_change(world, {"kind": kind, "action": "delete", "id": added}) == [added]
    assert len(apply_change(world, {"kind": kind, "action": "delete"})) == 1


def test_a_change_of_nothing_known_says_what_is_possible() -> None:
    with pytest.raises(ChangeRefused, match="kind is one of contacts, "):
        apply_change(made(), {"kind": "cats", "action": "add"})
    with pytest.raises(ChangeRefused, match="only mails can be moved"):
        apply_change(made(), {"kind": "files", "action": "move"})
    with pytest.raises(ChangeRefused, match="no record to delete in contacts with the id 7"):
        apply_change(made(), {"kind": "contacts", "action": "delete", "id": "7"})
