"""Media types of the templates' attachments, and the headers that services add to the mails they send."""

from __future__ import annotations

from typing import Final

TYPES: Final = {
    "pdf": "application/pdf",
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "tiff": "image/tiff",
    "eml": "message/rfc822",
    "zip": "application/zip",
    "xml": "application/xml",
    "html": "text/html",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "tnef": "application/ms-tnef",
    "octets": "application/octet-stream",
    "ics": "text/calendar; charset=utf-8; method=REQUEST",
    "ics_reply": "text/calendar; charset=utf-8; method=REPLY",
    "dsn": "message/delivery-status",
    "mdn": "message/disposition-notification",
    "p7s": "application/pkcs7-signature",
    "vcf": "text/vcard",
}

VIA: Final[dict[str | None, dict[str, str]]] = {
    None: {},
    "sendgrid": {
        "list-unsubscribe": "<https://{domain}/unsubscribe/{number}>",
        "precedence": "bulk",
        "x-sg-eid": "u001.c2VuZGdyaWQ{number}",
        "return-path": "<bounces+{number}@em.{domain}>",
    },
    "ses": {
        "feedback-id": "::1.eu-west-1.{number}=:AmazonSES",
        "x-ses-outgoing": "2026.01.12-54.240.0.1",
        "return-path": "<0102{number}@eu-west-1.amazonses.example>",
        "list-unsubscribe": "<mailto:unsubscribe@{domain}>",
    },
    "mailchimp": {
        "list-unsubscribe": "<https://{domain}/u/{number}>, <mailto:u-{number}@{domain}>",
        "list-id": "{number}mc list <{number}.list-id.mcsv.example>",
        "x-mc-user": "{number}",
        "feedback-id": "{number}:{number}:campaign:mc",
    },
    "bulk": {"precedence": "bulk", "list-unsubscribe": "<mailto:leave@{domain}>"},
    "list": {
        "list-id": "<project.{domain}>",
        "precedence": "list",
        "list-unsubscribe": "<mailto:u@{domain}>",
    },
    "group": {
        "list-id": "<ap.northmill.example>",
        "precedence": "list",
        "list-unsubscribe": "<mailto:ap+unsubscribe@northmill.example>",
    },
    "feedback": {"feedback-id": "{number}:social", "list-unsubscribe": "<https://{domain}/settings>"},
}
