"""Signs that a text is a document, whatever it is about: sums, dates, references, tables, lines to sign."""

from __future__ import annotations

import re
from typing import Final

MANY_FIGURES: Final = 4
MANY_COLUMNS: Final = 2
"""Lines with columns that make a table."""

_AMOUNT: Final = re.compile(
    r"(?:[€$£]|\b(?:EUR|USD|GBP|CHF))\s?\d|\d(?:[.,]\d\d)?\s?(?:[€$£]|(?:EUR|USD|GBP|CHF|euros?)\b)",
    re.IGNORECASE,
)
_CURRENCY: Final = re.compile(r"[€$£]|\b(?:EUR|USD|GBP|CHF)\b")
_PRICE: Final = re.compile(r"(?<![\d.,])\d{1,6}[.,]\d\d(?![\d.,]\d|\d)")
_MONTHS: Final = (
    r"jan|ene|feb|fév|mar|mär|apr|avr|abr|may|mai|jun|juin|jul|juil|aug|août|ago|sep|oct|okt|nov"
    r"|dec|dez|déc|dic"
)
_DATE: Final = re.compile(
    r"\b\d{1,2}[./]\s?\d{1,2}[./]\s?(?:\d\d)?\d\d\b|\b\d{4}-\d\d-\d\d\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|er|\.)?\s(?:de\s)?(?:{_MONTHS})",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"\d{5}")
_FIGURE: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_COLUMNS: Final = re.compile(r"\S(?: {2,}|\t|[ \t]*[|;][ \t]*)\S")
_TO_SIGN: Final = re.compile(r"_{4}|\.{6}|\[[xX ]\]")


def has_amount(text: str) -> bool:
    """Whether a sum of money is named, such as 12.50 EUR or $30."""
    return _AMOUNT.search(text) is not None


def has_date_or_reference(text: str) -> bool:
    """Whether a day or a number of five or more digits is named."""
    return _DATE.search(text) is not None or _REFERENCE.search(text) is not None


def document_sign(text: str) -> str | None:
    """The first sign that was found, as the end of "the text …"; a classifier does not skip such a text."""
    if _CURRENCY.search(text) or _PRICE.search(text):
        return "names a sum of money"
    if has_date_or_reference(text):
        return "names a date or a reference number"
    if _TO_SIGN.search(text):
        return "has a line or box to fill in"
    if sum(_COLUMNS.search(line) is not None for line in text.splitlines()) >= MANY_COLUMNS:
        return "has columns"
    return "has many figures" if sum(1 for _ in _FIGURE.finditer(text)) >= MANY_FIGURES else None
