"""Tests see no PENSTOCK_ or PG variable of whoever runs them."""

from __future__ import annotations

import os

import pytest

KEPT = {"PENSTOCK_CHAOS_LONG"}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("PENSTOCK_", "PG")) and name not in KEPT:
            monkeypatch.delenv(name)
