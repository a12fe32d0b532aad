"""Rows of the database are read by their annotations and written as the JSON that pydantic would write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, Literal, NewType
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from penstock.accounts import rows as account_rows
from penstock.documents import rows as intake_rows
from penstock.model import DocumentId, TenantId
from penstock.model.rows import items, plain, row_from, row_from_json

ItemId = NewType("ItemId", UUID)


class State(StrEnum):
    OPEN = "open"
    SHUT = "shut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    at: datetime
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    item_id: ItemId
    parent: ItemId | None
    state: State
    kind: Literal["a", "b"]
    part: Part | None
    parts: list[Part]
    states: tuple[State, ...]
    words: list[str]
    detail: dict[str, Any]
    count: int = 7


moments = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-3))])
)
parts = st.builds(Part, at=moments, weight=st.floats(allow_nan=False, allow_infinity=False))
json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)
rows = st.builds(
    Item,
    item_id=st.uuids(),
    parent=st.none() | st.uuids(),
    state=st.sampled_from(State),
    kind=st.sampled_from(["a", "b"]),
    part=st.none() | parts,
    parts=st.lists(parts, max_size=3),
    states=st.lists(st.sampled_from(State), max_size=3).map(tuple),
    words=st.lists(st.text(), max_size=3),
    detail=st.dictionaries(st.text(), json_values, max_size=3),
    count=st.integers(),
)
ADAPTER = TypeAdapter(Item)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # beside other load
@given(rows)
def test_a_row_reads_and_writes_the_same_json_as_pydantic(row: Item) -> None:
    text = ADAPTER.dump_json(row).decode()
    assert row_from_json(Item, text) == row
    assert plain(row) == ADAPTER.dump_python(row, mode="json")


def test_more_than_a_row_has_is_left_out_and_less_is_its_default() -> None:
    values = {"item_id": str(uuid4()), "parent": None, "state": "open", "kind": "a", "part": None}
    row = row_from(Item, values | {"parts": [], "states": [], "words": [], "detail": {}, "newer": 1})
    assert (row.count, row.parent, row.state) == (7, None, State.OPEN)
    with pytest.raises(TypeError, match="words"):
        row_from(Item, values | {"parts": [], "states": [], "detail": {}})


def test_a_whole_number_is_read_as_the_float_it_is() -> None:
    part = row_from_json(Part, '{"at": "2026-01-02T03:04:05.6+00:00", "weight": 2}')
    assert type(part.weight) is float
    assert dict(items(part)) == {"at": datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC), "weight": 2.0}


def test_ids_and_times_that_the_driver_has_read_stay_as_they_are() -> None:
    item_id, at = uuid4(), datetime.now(UTC)
    assert row_from(Part, {"at": at, "weight": 1.5}).at is at
    assert row_from(intake_rows.External, {"document_id": item_id, "external_id": "x", "path": None}) == (
        intake_rows.External(document_id=DocumentId(item_id), external_id="x", path=None)
    )


def test_secret_fields_of_a_row_are_not_in_its_repr() -> None:
    requested = account_rows.DeletionRequested(
        account_id=TenantId(uuid4()), account_deletion_task_id=1, receipt_token="hidden"
    )
    assert "hidden" not in repr(requested)
    assert plain(requested)["receipt_token"] == "hidden"


def test_a_page_of_rows_is_a_frozen_dataclass_too() -> None:
    page: intake_rows.Page[Part] = intake_rows.Page(items=[Part(at=datetime.now(UTC), weight=1)], cursor=None)
    assert plain(page)["items"][0]["weight"] == 1
