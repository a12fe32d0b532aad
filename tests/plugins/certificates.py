"""Reads the system's certificates once per process: it takes 20 ms, and tests' clients speak plain HTTP."""

from __future__ import annotations

from functools import cache

import httpcore2


def pytest_configure() -> None:
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
