"""OData's query options and Graph's headers: $select, $top, $expand, $filter by time, Prefer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.microsoft.errors import refuse
from penstock.simulators.providers.world.clock import parse_time

_FILTER: Final = re.compile(r"receivedDateTime\s+(ge|gt)\s+([0-9TZ:.+-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the header Prefer asks for."""

    immutable_ids: bool
    page_size: int | None
    text_body: bool

    @property
    def applied(self) -> dict[str, str]:
        """The header that says what was heeded."""
        chosen = []
        if self.immutable_ids:
            chosen.append('IdType="ImmutableId"')
        if self.page_size is not None:
            chosen.append(f"odata.maxpagesize={self.page_size}")
        return {"preference-applied": ", ".join(chosen)} if chosen else {}


def preferences(header: str) -> Preferences:
    folded = header.replace(" ", "").lower()
    size = re.search(r"odata\.maxpagesize=(\d{1,6})", folded)
    return Preferences(
        'idtype="immutableid"' in folded,
        max(1, int(size[1])) if size else None,
        'outlook.body-content-type="text"' in folded,
    )


def of_call(call: Call) -> Preferences:
    return preferences(",".join(call.request.headers.getlist("prefer")))


def selected(value: str | None, known: Iterable[str], kind: str) -> tuple[str, ...] | None:
    """The properties of a $select; none: all. A name that the type does not have is refused."""
    if not value:
        return None
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in names:
        if name not in known:
            raise refuse(
                400,
                "RequestBroker--ParseUri",
                f"Could not find a property named '{name}' on type 'microsoft.graph.{kind}'.",
            )
    return names


def top(value: str | None, default: int, most: int) -> int:
    if value is None:
        return default
    if not value.isdigit() or not 1 <= int(value) <= most:
        raise refuse(400, "ErrorInvalidParameter", f"The value of $top must be between 1 and {most}.")
    return int(value)


def received_since(value: str | None) -> datetime | None:
    """The time of `receivedDateTime ge …`, the only filter of a delta query."""
    if not value:
        return None
    found = _FILTER.fullmatch(value.strip())
    try:
        if found is None:
            raise ValueError(value)
        return parse_time(found[2].replace(" ", "+"))
    except ValueError:
        raise refuse(
            400, "ErrorInvalidUrlQueryFilter", "Only receivedDateTime with ge or gt can be filtered."
        ) from None


def expansion(value: str | None, name: str) -> str | None:
    """What stands in parentheses after an expanded name; empty if nothing, none if it is not expanded."""
    found = re.search(rf"(?:^|,)\s*{re.escape(name)}(?:\(([^)]*)\))?", value or "", re.IGNORECASE)
    return None if found is None else found[1] or ""


def inner_select(options: str) -> str | None:
    found = re.search(r"\$select=([^;]*)", options)
    return found[1] if found else None
