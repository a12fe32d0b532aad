"""One record of every document type in the vendor's REST shape, and what its field map makes of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

CONTACT = {
    "id": "7",
    "properties": {
        "firstname": "Ada",
        "lastname": "Byron",
        "email": "Ada.Byron@Acme.com",
        "company": "Acme Inc.",
        "industry": "MACHINERY",
        "jobtitle": "CTO",
        "lifecyclestage": "customer",
        "lastmodifieddate": "2026-04-14T08:00:00.000Z",
    },
    "createdAt": "2025-01-02T03:04:05.000Z",
    "updatedAt": "2026-04-14T08:00:00.000Z",
    "archived": False,
}
COMPANY = {
    "id": "42",
    "properties": {
        "name": "Acme Inc.",
        "domain": "acme.com",
        "industry": "MACHINERY",
        "numberofemployees": "250",
        "annualrevenue": "1250000.50",
        "description": "Makes <b>anvils</b> &amp; rockets",
        "hs_lastmodifieddate": "2026-04-13T10:00:00Z",
    },
    "createdAt": "2024-05-06T00:00:00Z",
    "updatedAt": "2026-04-13T10:00:00Z",
}
DEAL = {
    "id": "9",
    "properties": {
        "dealname": "Anvil renewal",
        "amount": "12000.10",
        "dealstage": "contractsent",
        "closedate": "2026-06-30T00:00:00Z",
        "pipeline": "default",
        "hs_lastmodifieddate": "2026-04-12T10:00:00Z",
    },
    "associations": {"companies": {"results": [{"id": "42", "type": "deal_to_company"}]}},
}
CUSTOMER = {
    "Id": "3",
    "DisplayName": "Acme",
    "CompanyName": "ACME, Inc.",
    "PrimaryEmailAddr": {"Address": "billing@acme.com"},
    "Balance": 310.7,
    "CurrencyRef": {"value": "USD"},
    "BillAddr": {"Line1": "1 Canyon Road", "City": "Phoenix", "CountrySubDivisionCode": "AZ"},
    "MetaData": {"CreateTime": "2025-02-01T09:00:00-07:00", "LastUpdatedTime": "2026-04-10T09:00:00-07:00"},
}
INVOICE = {
    "Id": "8",
    "CustomerRef": {"value": "3", "name": "Acme"},
    "TotalAmt": 99.95,
    "Balance": 0,
    "DueDate": "2026-03-31",
    "TxnDate": "2026-03-01",
    "DocNumber": "1037",
    "CurrencyRef": {"value": "USD"},
    "MetaData": {"LastUpdatedTime": "2026-03-02T09:00:00-07:00"},
}
THREAD = {
    "id": "18c2",
    "snippet": "About the anvils",
    "historyId": "991",
    "messages": [
        {
            "id": "m1",
            "from": "Ada Byron <ada@acme.com>",
            "to": "sales@example.com",
            "subject": "Anvils",
            "internalDate": "1776150000000",
            "body_text": "Do you have ten?\n",
        },
        {
            "id": "m2",
            "from": "sales@example.com",
            "to": "ada@acme.com",
            "subject": "Re: Anvils",
            "internalDate": "1776153600000",
            "body_text": "We do.",
        },
    ],
}
FILE = {
    "id": "1AbC",
    "name": "Onboarding plan",
    "mimeType": "application/vnd.google-apps.document",
    "modifiedTime": "2026-04-01T12:00:00.000Z",
    "exported_text": "Week one: meet the team.",
    "webViewLink": "https://docs.google.com/document/d/1AbC/edit",
}

GOLDEN: dict[str, tuple[dict[str, Any], str, str, str, dict[str, tuple[str, Any]]]] = {
    "hubspot.contact": (
        CONTACT,
        "contacts/7",
        "Ada Byron",
        (
            "Name: Ada Byron\nEmail: Ada.Byron@Acme.com\nCompany: Acme Inc.\nJob title: CTO\n"
            "Lifecycle stage: customer"
        ),
        {
            "client_name": ("contacts/7", "Acme Inc."),
            "industry": ("contacts/7", "MACHINERY"),
            "contact_role": ("contacts/7", "CTO"),
            "lifecycle": ("contacts/7", "customer"),
            "key.email_domain": ("contacts/7", "acme.com"),
        },
    ),
    "hubspot.company": (
        COMPANY,
        "companies/42",
        "Acme Inc.",
        (
            "Company: Acme Inc.\nDomain: acme.com\nIndustry: MACHINERY\nEmployees: 250\n"
            "Annual revenue: 1250000.50\nMakes anvils & rockets"
        ),
        {
            "client_name": ("companies/42", "Acme Inc."),
            "industry": ("companies/42", "MACHINERY"),
            "summary": ("companies/42", "Makes anvils & rockets"),
            "employees": ("companies/42", 250),
            "revenue": ("companies/42", Decimal("1250000.50")),
            "domain": ("companies/42", "acme.com"),
            "key.domain": ("companies/42", "acme.com"),
        },
    ),
    "hubspot.deal": (
        DEAL,
        "deals/9",
        "Anvil renewal",
        (
            "Deal: Anvil renewal\nStage: contractsent\nAmount: 12000.10\nClose date: 2026-06-30\n"
            "Pipeline: default"
        ),
        {
            "open_deals": (
                "companies/42",
                {
                    "id": "9",
                    "name": "Anvil renewal",
                    "stage": "contractsent",
                    "amount": Decimal("12000.10"),
                    "close_date": "2026-06-30",
                    "pipeline": "default",
                },
            ),
            "deal_stage": ("companies/42", "contractsent"),
            "deal_amount": ("companies/42", Decimal("12000.10")),
        },
    ),
    "quickbooks.customer": (
        CUSTOMER,
        "customers/3",
        "ACME, Inc.",
        (
            "Customer: Acme\nCompany: ACME, Inc.\nEmail: billing@acme.com\nBalance: 310.7 USD\n"
            "Billing address: 1 Canyon Road, Phoenix, AZ"
        ),
        {
            "client_name": ("customers/3", "ACME, Inc."),
            "ar_balance": ("customers/3", Decimal("310.7")),
            "currency": ("customers/3", "USD"),
            "billing_address": ("customers/3", "1 Canyon Road, Phoenix, AZ"),
            "key.email_domain": ("customers/3", "acme.com"),
        },
    ),
    "quickbooks.invoice": (
        INVOICE,
        "invoices/8",
        "Invoice 1037",
        (
            "Invoice: 1037\nCustomer: Acme\nDate: 2026-03-01\nDue: 2026-03-31\nTotal: 99.95 USD\n"
            "Open balance: 0 USD"
        ),
        {
            "invoice_history": (
                "customers/3",
                {
                    "number": "1037",
                    "date": "2026-03-01",
                    "due": "2026-03-31",
                    "total": Decimal("99.95"),
                    "balance": Decimal(0),
                    "currency": "USD",
                },
            ),
            "total_lifetime_value": ("customers/3", {"amount": Decimal("99.95"), "currency": "USD"}),
        },
    ),
    "gmail.thread": (
        THREAD,
        "threads/18c2",
        "Anvils",
        (
            "From: Ada Byron <ada@acme.com>\nTo: sales@example.com\nDate: 2026-04-14 07:00 UTC\n"
            "Subject: Anvils\nDo you have ten?\n\n"
            "From: sales@example.com\nTo: ada@acme.com\nDate: 2026-04-14 08:00 UTC\n"
            "Subject: Re: Anvils\nWe do."
        ),
        {},
    ),
    "google_drive.doc": (
        FILE,
        "files/1AbC",
        "Onboarding plan",
        "File: Onboarding plan\nType: application/vnd.google-apps.document\nWeek one: meet the team.",
        {},
    ),
}
"""The payload, its external id, title and text, and its facts: whose, and the value."""
GOLDEN["google_drive.sheet"] = GOLDEN["google_drive.doc"]
GOLDEN["google_drive.file"] = GOLDEN["google_drive.doc"]
