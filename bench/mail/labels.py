"""What each label means: whether the item is worth keeping, and which reasons for skipping it are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Label:
    is_document: bool
    skip_reasons: frozenset[str] = frozenset()
    """Any of these is right if the item is skipped, at either stage."""


DOCUMENT: Final = Label(True)


def _noise(*skip_reasons: str) -> Label:
    return Label(False, frozenset(skip_reasons))


LABELS: Final[dict[str, Label]] = {
    "invoice": DOCUMENT,
    "receipt": DOCUMENT,
    "credit_note": DOCUMENT,
    "purchase_order": DOCUMENT,
    "contract": DOCUMENT,
    "statement": DOCUMENT,
    "delivery_note": DOCUMENT,
    "quote": DOCUMENT,
    "price_list": DOCUMENT,
    "payslip": DOCUMENT,
    "certificate": DOCUMENT,
    "report": DOCUMENT,
    "minutes": DOCUMENT,
    "form": DOCUMENT,
    "letter": DOCUMENT,
    "invoice_link": DOCUMENT,
    "covering_note": DOCUMENT,
    "signature_image": _noise("signature_image"),
    "tracking_pixel": _noise("tracking_pixel"),
    "calendar_invitation": _noise("calendar_invitation"),
    "calendar_text": _noise("calendar_invitation"),
    "auto_reply": _noise("auto_reply"),
    "delivery_status": _noise("delivery_status"),
    "empty_file": _noise("empty_file"),
    "own_mail": _noise("own_mail"),
    "spam": _noise("spam"),
    "technical_part": _noise("technical_part"),
    "newsletter": _noise("marketing_material", "bulk_mail"),
    "brochure": _noise("marketing_material"),
    "flyer": _noise("marketing_material"),
    "marketing_text": _noise("marketing_material", "bulk_mail"),
    "marketing_image": _noise("marketing_material", "signature_image"),
    "social_notification": _noise("social_notification", "bulk_mail"),
    "social_image": _noise("social_notification", "signature_image"),
    "notification": _noise("notification", "bulk_mail"),
    "legal_footer": _noise("notification", "personal", "marketing_material"),
    "personal": _noise("personal"),
    "personal_photo": _noise("personal"),
}
"""`covering_note` is the text of a mail that brings a document, `invoice_link` one that links to it."""
