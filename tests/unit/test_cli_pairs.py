"""Options of the form NAME=VALUE, whose value may be JSON."""

from __future__ import annotations

import pytest

from penstock.cli.documents.client_records import facts_of
from penstock.cli.tenants.source_configuring import _changes

DEEP = "[" * 100_000


@pytest.mark.parametrize("read", [facts_of, _changes])
def test_a_value_that_is_not_json_is_a_text_however_deeply_it_opens(read: object) -> None:
    assert callable(read)
    assert read(["a=1", "b=[true]", "c=Acme Ltd", f"d={DEEP}"]) == {
        "a": 1,
        "b": [True],
        "c": "Acme Ltd",
        "d": DEEP,
    }
