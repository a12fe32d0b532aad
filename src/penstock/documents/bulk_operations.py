"""Operations on everything that matches a filter: count, start, follow and stop them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from penstock.db import Connection
from penstock.documents.filters import bad_cursor
from penstock.errors import InvalidArgument
from penstock.model.rows import row_from, row_from_json

BulkAction = Literal[
    "documents.retry",
    "documents.reindex",
    "documents.delete",
    "tasks.cancel",
    "tasks.run_now",
    "dead.replay",
    "dead.purge",
    "decisions.restore",
    "sources.sync",
    "sources.pause",
    "sources.resume",
    "clients.delete",
    "processes.retry",
    "keys.revoke",
    "sessions.end",
    "queues.pause",
    "queues.resume",
    "workers.stop",
    "schedules.run",
    "schedules.pause",
    "schedules.resume",
    "operations.cancel",
    "inlets.pause",
    "inlets.resume",
]
BulkState = Literal["running", "watching", "done", "stopped", "failed"]
MOST_IDS: Final = 10_000
SHARED: Final = ("queues.", "inlets.", "workers.", "schedules.")
"""Actions on what belongs to all tenants."""
_BY_UUID: Final = ("documents.", "decisions.", "sources.", "clients.", "keys.", "sessions.", "operations.")
_BY_NUMBER: Final = ("tasks.", "dead.", "workers.")
_PROCESS: Final = re.compile(r"[a-z_0-9]{1,63}\.[a-z_0-9]{1,63}/[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonCount:
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPreview:
    """How many items match; `skipped` are those among them that the action would leave out."""

    count: int
    approximate: bool
    skipped: list[ReasonCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """The first items of an operation, and how they fared; `size` is how many there are."""

    percent: int
    size: int
    succeeded: int
    failed: int
    state: Literal["running", "watching", "passed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOperation:
    """One operation. Its end is estimated from the measured rate, with two standard errors either way."""

    operation_id: UUID
    tenant: str | None
    """None: an operator's, on tasks of all tenants."""
    action: BulkAction
    filter: dict[str, Any]
    state: BulkState
    total: int
    done: int
    skipped: int
    failed: int
    skipped_reasons: list[ReasonCount]
    failed_reasons: list[ReasonCount]
    canary: CanaryResult | None
    by: str
    started_at: datetime
    finished_at: datetime | None
    error: str | None
    task_id: int | None
    eta_seconds: float | None
    eta_low: float | None
    eta_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItem:
    """One item of an operation, by its id; without an outcome it has not been treated yet."""

    ordinal: int
    item: str
    outcome: Literal["done", "skipped", "failed"] | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOperationPage:
    items: list[BulkOperation]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItemPage:
    items: list[BulkItem]
    cursor: str | None


class BulkOperations:
    """Over a connection in a transaction of a tenant, or with `all_tenants` in an operator's."""

    def __init__(self, connection: Connection, *, all_tenants: bool = False) -> None:
        self._connection = connection
        self._schema = "all_tenants" if all_tenants else "ingest"

    async def preview(self, action: str, chosen: Mapping[str, object]) -> BulkPreview:
        """How many items an operation would act on, and which of them it would leave out."""
        return row_from_json(
            BulkPreview, await self._value("preview_operation($1, $2)", action, checked(action, chosen))
        )

    async def start(
        self,
        action: str,
        chosen: Mapping[str, object],
        *,
        expected_count: int,
        by: str,
        canary_percent: int | None = None,
    ) -> BulkOperation:
        """Start one; raises Conflict if the number of items is not about the expected one."""
        return _operation(
            await self._value(
                "start_operation($1, $2, $3, $4, $5)",
                action,
                checked(action, chosen),
                expected_count,
                by,
                canary_percent,
            )
        )

    async def show(self, operation_id: UUID) -> BulkOperation:
        return _operation(await self._value("show_operation($1)", operation_id))

    async def cancel(self, operation_id: UUID, by: str) -> BulkOperation:
        """Stop one; what it has not treated yet stays as it is."""
        return _operation(await self._value("cancel_operation($1, $2)", operation_id, by))

    async def list(
        self, *, state: str | None = None, cursor: str | None = None, limit: int = 50
    ) -> BulkOperationPage:
        """Newest first; `state` may be several, separated by commas."""
        rows = await self._rows("list_operations($1, $2, $3)", state, _uuid(cursor), limit + 1)
        found = [_operation(row) for row in rows[:limit]]
        return BulkOperationPage(
            items=found, cursor=str(found[-1].operation_id) if len(rows) > limit else None
        )

    async def items(
        self, operation_id: UUID, *, outcome: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> BulkItemPage:
        """What happened to each item, in order."""
        rows = await self._rows(
            "list_operation_items($1, $2, $3, $4)", operation_id, outcome, _number(cursor), limit + 1
        )
        found = [row_from_json(BulkItem, row) for row in rows[:limit]]
        return BulkItemPage(items=found, cursor=str(found[-1].ordinal) if len(rows) > limit else None)

    async def _value(self, call: str, *arguments: object) -> str:
        return str(await self._connection.fetchval(f"select {self._schema}.{call}", *arguments))

    async def _rows(self, call: str, *arguments: object) -> Sequence[str]:
        return [row[0] for row in await self._connection.fetch(f"select {self._schema}.{call}", *arguments)]


def checked(action: str, chosen: Mapping[str, object]) -> str:
    """The filter as SQL reads it; ids and times are checked here, all else there."""
    if action not in get_args(BulkAction):
        raise InvalidArgument(
            f"{action!r} is not an action", "action", "Use one of " + ", ".join(get_args(BulkAction))
        )
    given = {name: value for name, value in chosen.items() if value not in (None, "")}
    if "ids" in given:
        given["ids"] = _ids(given["ids"], action)
    if "source_id" in given and action.startswith("decisions."):
        given["source_id"] = _one_id(given["source_id"], "source_id")
    for name in ("died_before", "since"):
        if name in given:
            given[name] = _moment(given[name], name)
    for name, value in given.items():
        if name != "ids" and not isinstance(value, str):
            raise InvalidArgument(f"{name} must be text", f"filter.{name}", "Send it in quotes")
    return json.dumps(given)


def _ids(value: object, action: str) -> list[str]:
    if not isinstance(value, list | tuple) or not value or len(value) > MOST_IDS:
        raise InvalidArgument(
            f"ids must be a list of 1 to {MOST_IDS:,} ids", "filter.ids", "Use a filter for more items"
        )
    if action.startswith(_BY_UUID):
        return [_one_id(each, "ids") for each in value]
    texts = [str(each) for each in value]
    longest = 9 if action.startswith("workers.") else 18
    for text in texts:
        if action.startswith(_BY_NUMBER) and not (text.isascii() and text.isdigit() and len(text) <= longest):
            raise InvalidArgument(f"{text!r} is not an id", "filter.ids", "Use a number")
        if action.startswith("processes.") and _PROCESS.fullmatch(text) is None:
            raise InvalidArgument(
                f"{text!r} is not the id of a process", "filter.ids", "Use one such as comms.send_email/12"
            )
    return texts


def _one_id(value: object, field: str) -> str:
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise InvalidArgument(f"{value!r} is not an id", f"filter.{field}", "Use a UUID") from None


def _moment(value: object, field: str) -> str:
    try:
        return datetime.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise InvalidArgument(
            f"{value!r} is not a time", f"filter.{field}", "Use ISO 8601: 2026-11-17T12:00:00Z"
        ) from None


def _operation(text: str) -> BulkOperation:
    row = json.loads(text)
    for name in ("skipped_reasons", "failed_reasons"):
        counted = sorted((row[name] or {}).items(), key=lambda each: (-each[1], each[0]))
        row[name] = [{"reason": reason, "count": count} for reason, count in counted]
    return row_from(BulkOperation, row)


def _uuid(cursor: str | None) -> UUID | None:
    try:
        return None if cursor is None else UUID(cursor)
    except ValueError:
        raise bad_cursor() from None


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise bad_cursor()
    return int(cursor)
