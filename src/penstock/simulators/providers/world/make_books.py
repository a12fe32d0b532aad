"""Makes the books of the simulated business: customers under their bookkeeper's names, and invoices."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from penstock.simulators.providers.world import words
from penstock.simulators.providers.world.books import Books, BooksTable, Entity, balance_of
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.companies import Company, Person, name_in_books


def make_books(
    random: Random,
    clock: SimulatedClock,
    anchor: datetime,
    people: list[Person],
    customers: int,
    invoices: int,
) -> Books:
    """The first people's companies are customers; `invoices` are spread over them."""
    books = Books(BooksTable("Customer", clock), BooksTable("Invoice", clock))
    owed: dict[str, float] = {}
    since: dict[str, datetime] = {}
    for person in people[:customers]:
        at = anchor - timedelta(days=random.randrange(200, 700), seconds=random.randrange(86_400))
        added = books.customers.add(_customer(random, person), at=at)
        since[added.id] = at
    ids = list(books.customers.entities)
    for number in range(invoices if ids else 0):
        owner = books.customers.entities[random.choice(ids)]
        day = anchor - timedelta(days=random.randrange(1, 200), seconds=random.randrange(86_400))
        made = books.invoices.add(_invoice(random, owner, number, day, anchor), at=day)
        owed[owner.id] = round(owed.get(owner.id, 0.0) + balance_of(made), 2)
        since[owner.id] = max(since[owner.id], day)
    for owner_id, balance in owed.items():
        owner = books.customers.entities[owner_id]
        owner.fields |= {"Balance": balance, "BalanceWithJobs": balance}
        owner.modified = since[owner_id]
    return books


def _customer(random: Random, person: Person) -> dict[str, Any]:
    company: Company = person.company
    name = name_in_books(random, company)
    city, state, code = company.city
    fields: dict[str, Any] = {
        "DisplayName": name,
        "CompanyName": name,
        "GivenName": person.first,
        "FamilyName": person.last,
        "PrimaryEmailAddr": {"Address": f"billing@{company.domain}"},
        "PrimaryPhone": {
            "FreeFormNumber": f"(555) {random.randrange(1000):03}-{random.randrange(10_000):04}"
        },
        "WebAddr": {"URI": f"https://www.{company.domain}"},
        "BillAddr": {
            "Line1": f"{random.randrange(1, 400)} {random.choice(words.STREETS)}",
            "City": city,
            "CountrySubDivisionCode": state,
            "PostalCode": code,
            "Country": "USA",
        },
        "Balance": 0.0,
        "BalanceWithJobs": 0.0,
        "Active": True,
        "CurrencyRef": {"value": "USD", "name": "United States Dollar"},
    }
    if random.random() < 0.05:
        del fields["CompanyName"]  # entered by its display name only
    return fields


def _invoice(random: Random, owner: Entity, number: int, day: datetime, anchor: datetime) -> dict[str, Any]:
    lines = []
    for position in range(random.randrange(1, 4)):
        service, price = random.choice(words.SERVICES)
        count = random.randrange(1, 6)
        lines.append(
            {
                "Id": str(position + 1),
                "LineNum": position + 1,
                "Description": service,
                "Amount": price * count,
                "DetailType": "SalesItemLineDetail",
                "SalesItemLineDetail": {"Qty": count, "UnitPrice": price},
            }
        )
    total = float(sum(line["Amount"] for line in lines))  # type: ignore[misc]  # each Amount is a float
    due = day + timedelta(days=30)
    paid = due < anchor and random.random() < 0.8
    return {
        "DocNumber": str(1001 + number),
        "TxnDate": f"{day:%Y-%m-%d}",
        "DueDate": f"{due:%Y-%m-%d}",
        "CustomerRef": {"value": owner.id, "name": owner.fields["DisplayName"]},
        "BillEmail": owner.fields["PrimaryEmailAddr"],
        "CurrencyRef": {"value": "USD", "name": "United States Dollar"},
        "Line": lines,
        "TotalAmt": total,
        "Balance": 0.0 if paid else total,
        "EmailStatus": "EmailSent",
        "CustomerMemo": {"value": "Thank you for your business."},
    }
