"""While a document is read, Python looks for reference cycles less often."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from penstock.pipeline.parse.garbage import collected_seldom


@pytest.fixture
def usual_thresholds() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_a_document_is_read_with_fewer_collections(usual_thresholds: tuple[int, int, int]) -> None:
    with collected_seldom():
        assert gc.get_threshold() > usual_thresholds
    assert gc.get_threshold() == usual_thresholds


def test_collections_are_as_frequent_as_before_after_a_failure(
    usual_thresholds: tuple[int, int, int],
) -> None:
    with pytest.raises(ZeroDivisionError), collected_seldom():
        1 / 0  # noqa: B018  # a reader that fails
    assert gc.get_threshold() == usual_thresholds
