"""A signal to a child that has just ended does not take its exit code away from the event loop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest

from penstock.sandbox.signals import send

pytestmark = pytest.mark.fresh_children


async def test_a_signal_reaps_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the event loop may: to it, a child that somebody else has reaped ended with 255."""
    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 7")

    def poll(popen: object) -> None:
        raise AssertionError("this reaps the child")

    monkeypatch.setattr(subprocess.Popen, "poll", poll)
    with pytest.raises(AssertionError, match="reaps"):
        process.terminate()  # what the process's own call does
    send(process, signal.SIGTERM)
    assert await process.wait() in (7, -signal.SIGTERM)


async def test_a_child_that_ends_while_it_is_told_to_keeps_its_exit_code() -> None:
    for _ in range(50):
        process = await asyncio.create_subprocess_exec("/bin/sh", "-c", "exit 7")
        while process.returncode is None:
            send(process, signal.SIGCONT)
            await asyncio.sleep(0)
        assert process.returncode == 7


async def test_a_running_child_gets_the_signal_and_one_that_is_gone_none() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(60)")
    send(process, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL
    send(process, signal.SIGKILL)
