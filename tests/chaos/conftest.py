"""Everything in this folder is chaos; the long version may take its time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.work import LONG


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.chaos)
            item.add_marker(pytest.mark.timeout(1_800 if LONG else 240))
