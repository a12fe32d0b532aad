"""A parser pool for tests: one set of child processes for the whole run, on a loop in its own thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from penstock.model import Parsed, sniffing
from penstock.pipeline.parser_pool import ParserPool
from penstock.settings import Settings

Parse: TypeAlias = Callable[..., Parsed]


@pytest.fixture(scope="session")
def parser_pool() -> Iterator[tuple[ParserPool, asyncio.AbstractEventLoop]]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    parsers = ParserPool(Settings(parse_processes=1))
    asyncio.run_coroutine_threadsafe(parsers.start(), loop).result(60)
    yield parsers, loop
    asyncio.run_coroutine_threadsafe(parsers.close(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def parse(parser_pool: tuple[ParserPool, asyncio.AbstractEventLoop], tmp_path: Path) -> Parse:
    """Parse bytes under a file's name; the type is sniffed from the content as intake does."""
    parsers, loop = parser_pool

    def parsed(content: bytes, filename: str, mime_type: str | None = None) -> Parsed:
        path = tmp_path / "stored.bin"
        path.write_bytes(content)
        kind = mime_type or sniffing.sniff(content[: sniffing.HEAD_BYTES], filename=filename)
        call = parsers.parse(path, mime_type=kind, filename=filename)
        return asyncio.run_coroutine_threadsafe(call, loop).result(100)

    return parsed
