"""Runs a coroutine to its end from anywhere: also from a fixture, or inside a test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

R = TypeVar("R")


def run_blocking(coroutine: Coroutine[Any, Any, R]) -> R:
    """Its result, from a loop in a thread of its own; the loop of the test, if any, is not touched."""
    with ThreadPoolExecutor(1, thread_name_prefix="penstock-testing") as thread:
        return thread.submit(asyncio.run, coroutine).result()
