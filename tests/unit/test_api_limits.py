"""The rate limit counts evenly, and JSON that cannot be stored is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.api.json_values import METADATA_BYTES, parse_object, storable
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import RateLimit, burst_of, refuse_over
from penstock.errors import InvalidArgument


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_tenant_may_use_its_burst_and_then_waits_for_the_next_place() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    left = [limit.take("a", 6).remaining for _ in range(6)]
    assert left == [5, 4, 3, 2, 1, 0]
    refused = limit.take("a", 6)
    assert refused.retry_after == pytest.approx(10)
    with pytest.raises(HttpRefused) as error:
        refuse_over(refused)
    assert error.value.headers == {"Retry-After": "10"}
    clock.now += 10
    assert limit.take("a", 6).retry_after == 0
    assert limit.take("a", 6).retry_after > 0


@pytest.mark.parametrize("raised", [120, 6_000, 1_000_000])
def test_a_raised_limit_takes_effect_with_the_next_request(raised: int) -> None:
    clock = Clock()
    limit = RateLimit(clock)
    while not limit.take("a", 1).retry_after:
        pass
    assert limit.take("a", 1).retry_after > 50
    allowance = limit.take("a", raised)
    assert allowance.retry_after == 0
    assert allowance.remaining >= burst_of(raised) - 3


def test_a_lowered_limit_keeps_what_was_used_and_never_more_than_its_burst() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    for _ in range(500):
        limit.take("a", 6_000)
    refused = limit.take("a", 6)
    assert 0 < refused.retry_after <= 10
    clock.now += 10
    assert limit.take("a", 6).retry_after == 0
    assert limit.take("a", 6).retry_after > 0
    assert limit.take("a", 6_000).retry_after == 0, "raised again"


def test_one_tenant_does_not_use_up_anothers_rate() -> None:
    limit = RateLimit(Clock())
    while not limit.take("a", 60).retry_after:
        pass
    assert limit.take("b", 60).retry_after == 0


@given(per_minute=st.integers(1, 100_000), pauses=st.lists(st.floats(0, 5), max_size=60))
def test_no_minute_sees_more_than_the_rate_and_one_burst(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(clock)
    passed = 0
    for pause in pauses:
        clock.now += pause
        passed += limit.take("a", per_minute).retry_after == 0
    assert passed <= burst_of(per_minute) + (clock.now - 1_000) * per_minute / 60 + 1


def test_names_that_come_once_do_not_fill_the_memory() -> None:
    clock = Clock()
    limit = RateLimit(clock)
    for number in range(25_000):
        limit.take(number, 60)
    assert len(limit._full_at) <= 10_000
    clock.now += 100
    limit.take("a", 60)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\u0000"}',
        '{"\\u0000": 1}',
        '{"a": ["\\ud800"]}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 200 + "}",
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": ' + "[" * 100 + "]" * 100 + "}",
        "[" * 100_000,
        "[]",
        '"text"',
        "null",
        "3",
        "{",
        '{"a": "' + "x" * METADATA_BYTES + '"}',
    ],
)
def test_metadata_that_cannot_be_stored_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        parse_object(text, "metadata")
    assert refused.value.field == "metadata"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(json_values)
def test_storable_values_pass_unchanged(value: object) -> None:
    assert storable(value) is value
