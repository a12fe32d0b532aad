"""An embedder or a parser that a test forks is what a fresh one would be."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from penstock.embed.local.embedder import wordllama
from penstock.model import Parsed
from penstock.pipeline.parser_pool import PRELOAD, ParserPool
from penstock.sandbox import Sandbox
from penstock.settings import Settings
from tests.contract.forked_probe import surroundings
from tests.plugins.forked import server_pids
from tests.plugins.forked_children import start_fresh

if TYPE_CHECKING:
    import pytest

TEXTS = ["The penstock lets water into the mill.", "7 gates, 3 of them shut.", "x"]


async def embedded() -> tuple[Any, str]:
    embedder = wordllama()
    try:
        found = await embedder.embed(TEXTS)
        assert embedder.pid is not None
        child = psutil.Process(embedder.pid)
        assert child.ppid() == os.getpid()
        assert os.getsid(child.pid) == child.pid
        return found, "".join(child.cmdline())
    finally:
        await embedder.close()


async def parsed(file: Path) -> tuple[Parsed, Any, dict[str, str], str]:
    pool = ParserPool(Settings(parse_processes=1))
    box = Sandbox(1, memory_mb=256, preload=PRELOAD)
    try:
        await asyncio.gather(pool.start(), box.start())
        child = psutil.Process(box.pids[0])
        assert child.ppid() == os.getpid()
        document = await pool.parse(file, mime_type="text/plain", filename=file.name)
        return (
            document,
            (pool.sandbox.layers, box.layers),
            await box.run(surroundings, seconds=20),
            "".join(child.cmdline()),
        )
    finally:
        await asyncio.gather(pool.close(), box.close())


async def test_a_forked_embedder_answers_as_a_fresh_one(monkeypatch: pytest.MonkeyPatch) -> None:
    forked, server = await embedded()
    monkeypatch.setattr(subprocess.Popen, "_execute_child", start_fresh)
    fresh, command = await embedded()
    assert forked == fresh
    assert ("fork_server" in server, "fork_server" in command) == (True, False)
    assert server_pids()


async def test_a_forked_parser_is_confined_and_reads_as_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mill.txt"
    file.write_text("\n\n".join(TEXTS))
    *forked, server = await parsed(file)
    monkeypatch.setattr(subprocess.Popen, "_execute_child", start_fresh)
    *fresh, command = await parsed(file)
    assert forked == fresh
    assert ("fork_server" in server, "fork_server" in command) == (True, False)
