"""The functions an expression of a field map may call; none of them sees more than its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from penstock.sources.reading.html_text import text_of_html

Json: TypeAlias = Any

EPOCH_DIGITS: Final = re.compile(r"-?[0-9]{9,14}\Z")
DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
ADDRESS: Final = re.compile(r"<([^<>]*)>\s*\Z")
LARGEST_AMOUNT: Final = Decimal(10) ** 30
MOST_PLACES: Final = 400
"""After the point: more than any float has. `1e-999999999` would be a gigabyte once it is written out."""
MILLISECONDS_FROM: Final = 10**11
"""A count of seconds this large would be in the year 5138: it is a count of milliseconds."""


def lower(value: Json) -> Json:
    """The text in lower case without spaces around it."""
    return None if value is None else (str(value).strip().lower() or None)


def domain(value: Json) -> str | None:
    """`acme.com` of `https://www.Acme.com/about`; None if there is no domain."""
    text = lower(value)
    if text is None:
        return None
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return None
    host = host.removeprefix("www.").rstrip(".")
    return host if "." in host and " " not in host else None


def email_domain(value: Json) -> str | None:
    """`acme.com` of `Ada <ada@acme.com>`; None if it is not an address."""
    text = lower(value)
    if text is None:
        return None
    if found := ADDRESS.search(text):
        text = found[1].strip()
    name, at, host = text.rpartition("@")
    return domain(host) if name and at else None


def money(value: Json) -> Decimal | None:
    """An exact amount of a number or a text such as "1,250.00"; None of nothing."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError("is not an amount")
    text = repr(value) if isinstance(value, float) else str(value).strip().replace(",", "")
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise ValueError("is not an amount") from None
    if not amount.is_finite() or abs(amount) >= LARGEST_AMOUNT or _places(amount) > MOST_PLACES:
        raise ValueError("is not an amount")
    return amount


def _places(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def whole(value: Json) -> int | None:
    """A whole number, such as a count of employees."""
    amount = money(value)
    if amount is None:
        return None
    if amount != amount.to_integral_value():
        raise ValueError("is not a whole number")
    return int(amount)


def moment(value: Json) -> datetime | None:
    """A time from ISO 8601, or from seconds or milliseconds since 1970; without a zone it is UTC."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value
    try:
        if (isinstance(value, int | float) and not isinstance(value, bool)) or EPOCH_DIGITS.match(str(value)):
            seconds = float(value)
            return datetime.fromtimestamp(
                seconds / 1000 if abs(seconds) >= MILLISECONDS_FROM else seconds, UTC
            )
        if not isinstance(value, str):
            raise ValueError
        read = datetime.fromisoformat(value.strip())
    except (ValueError, OverflowError, OSError):
        raise ValueError("is not a date or a time") from None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


def date(value: Json) -> str | None:
    """The day of a time, as 2026-04-15."""
    if isinstance(value, str) and DAY.match(value.strip()):
        value = value.strip()
    read = moment(value)
    return None if read is None else read.date().isoformat()


def time(value: Json) -> str | None:
    """A time to the minute, as 2026-04-15 09:30 UTC."""
    read = moment(value)
    return None if read is None else f"{read.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def strip_html(value: Json) -> Json:
    """The text of a piece of HTML; a text without tags and entities stays as it is."""
    if not isinstance(value, str) or not ("<" in value or "&" in value):
        return value
    return _text_of_html(value)


@lru_cache(maxsize=2)  # a map uses the same text for a line and for a fact
def _text_of_html(html: str) -> str:
    return text_of_html(html, " ")


def join(separator: Json, values: Json) -> str | None:
    """The values that exist, as one text; None if there is none."""
    if not isinstance(values, list):
        raise ValueError("is not a list")
    texts = [text for value in values if value is not None and (text := str(value).strip())]
    return str(separator).join(texts) or None


def amount_in(amount: Json, currency: Json) -> Mapping[str, Json] | None:
    """An amount together with its currency, for sums that must not mix currencies."""
    exact = money(amount)
    return None if exact is None else {"amount": exact, "currency": currency or None}


FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Json], int]]] = {
    "amount_in": (amount_in, 2),
    "date": (date, 1),
    "domain": (domain, 1),
    "email_domain": (email_domain, 1),
    "join": (join, 2),
    "lower": (lower, 1),
    "money": (money, 1),
    "strip_html": (strip_html, 1),
    "time": (time, 1),
    "whole": (whole, 1),
}
"""Each function with its number of arguments."""
