"""Tests see no PENSTOCK_ or PG variable of the caller, and their children react to Ctrl-C."""

from __future__ import annotations

import os
import signal

import pytest

KEPT = {"PENSTOCK_CHAOS_LONG", "PENSTOCK_TEST_POSTGRES"}


def pytest_configure() -> None:
    restore_ctrl_c()


def restore_ctrl_c() -> None:
    """A shell ignores SIGINT in what it starts in the background, and a child inherits that; not ours."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("PENSTOCK_", "PG")) and name not in KEPT:
            monkeypatch.delenv(name)
    # Beside a whole run of tests, workers that stand back would hardly run at all.
    monkeypatch.setenv("PENSTOCK_NICENESS", "0")
