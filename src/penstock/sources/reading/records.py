"""Makes items of a page's records; a record that cannot be used fails alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from penstock.sources.protocol import Failed, Item


class RecordUnusable(ValueError):
    """A record that has not the shape it should have; `path` names the field."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path


def required_text(record: Mapping[str, Any], name: str) -> str:
    """A field that must be a text or a number."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise RecordUnusable(name, "is missing" if value in (None, "") else "is neither text nor a number")
    return str(value)


def items_of(records: Iterable[Any], make: Callable[[Mapping[str, Any]], Item]) -> Iterator[Item | Failed]:
    """An item of each record, or why there is none."""
    for record in records:
        try:
            if not isinstance(record, Mapping):
                raise RecordUnusable("@", f"is a {type(record).__name__}, not an object")
            yield make(record)
        except RecordUnusable as wrong:
            yield failed_record(record, wrong)


def failed_record(record: Any, wrong: RecordUnusable) -> Failed:
    """The failure of one record, under its id if it has one."""
    found = [record.get(name) for name in ("id", "Id")] if isinstance(record, Mapping) else []
    known = next((str(each) for each in found if isinstance(each, str | int) and each != ""), None)
    return Failed(id=known, code="record_unusable", message=str(wrong), path=wrong.path)
