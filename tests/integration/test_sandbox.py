"""The sandbox keeps what hangs, crashes or eats memory away from the process that called it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from penstock.errors import DocumentRejected
from penstock.sandbox import (
    Sandbox,
    SandboxClosed,
    SandboxCrashed,
    SandboxError,
    SandboxFilesTooLarge,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
    process,
)
from tests.integration import sandbox_work as work
from tests.plugins.busy import stretched
from tests.plugins.workers import eventually

pytestmark = pytest.mark.fresh_children


@contextlib.asynccontextmanager
async def sandbox(processes: int = 1, memory_mb: int = 256, *preload: str) -> AsyncIterator[Sandbox]:
    made = Sandbox(processes, memory_mb=memory_mb, preload=preload)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def assert_works(box: Sandbox) -> None:
    assert (await box.run(work.add, 1, 2, seconds=10)).total == 3


def calls(pid: int) -> list[int]:
    """The processes of a call in progress below a child: all except the server it is forked from."""
    with contextlib.suppress(psutil.NoSuchProcess):
        below = psutil.Process(pid).children(recursive=True)
        return [one.pid for one in below[1:] if one.status() != psutil.STATUS_ZOMBIE]
    return []


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def test_each_call_has_a_process_of_its_own_below_a_warm_child() -> None:
    async with sandbox() as box:
        before = box.pids
        first = await box.run(work.add, 1, 2, seconds=10)
        second = await box.run(work.add, 3, seconds=10)
        assert (first.total, second.total) == (3, 3)
        assert len({first.pid, second.pid, os.getpid()}) == 3
        assert box.pids == before


async def test_calls_run_side_by_side_and_queue_when_all_children_are_busy() -> None:
    async with sandbox(2) as box:
        sums = await asyncio.gather(*(box.run(work.add, n, seconds=10) for n in range(20)))
        assert [one.total for one in sums] == list(range(20))
        assert len(box.pids) == 2


async def test_an_exception_of_the_function_comes_back_unchanged() -> None:
    async with sandbox() as box:
        with pytest.raises(LookupError, match="not here"):
            await box.run(work.fail, "not here", seconds=10)
        await assert_works(box)


async def test_an_error_that_cannot_be_pickled_comes_back_as_text() -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxRaised, match="Unpackable: one and two"):
            await box.run(work.fail_strangely, seconds=10)
        await assert_works(box)


async def test_arguments_that_cannot_be_sent_are_refused_and_cost_no_child() -> None:
    async with sandbox() as box:
        before = box.pids
        with pytest.raises(TypeError, match="a child cannot find it"):
            await box.run(lambda: 1, seconds=10)
        await assert_works(box)
        assert box.pids == before


async def test_an_answer_that_would_run_code_is_not_read(tmp_path: Path) -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxRaised, match="PydanticSerializationError"):
            await box.run(work.attack, str(tmp_path / "made"), seconds=10)
        assert not (tmp_path / "made").exists()
        await assert_works(box)


async def test_a_segfault_is_an_error_of_that_call_only() -> None:
    async with sandbox(2) as box:
        results = await asyncio.gather(
            box.run(work.segfault, seconds=10),
            *(box.run(work.add, n, seconds=10) for n in range(6)),
            return_exceptions=True,
        )
        assert isinstance(results[0], SandboxCrashed)
        assert results[0].signal == signal.SIGSEGV
        assert "SIGSEGV" in str(results[0])
        assert [one.total for one in results[1:] if isinstance(one, work.Sum)] == list(range(6))
        await eventually(lambda: len(box.pids) == 2)


async def test_an_exit_in_the_middle_is_a_crash_with_its_code() -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxCrashed) as caught:
            await box.run(work.leave, 7, seconds=10)
        assert (caught.value.exit_code, caught.value.signal) == (7, None)
        await assert_works(box)


async def test_a_function_that_hangs_is_killed_at_its_limit() -> None:
    async with sandbox() as box:
        for hanging in (work.hang, work.hang_in_native_code):
            (pid,), began = box.pids, time.monotonic()
            with pytest.raises(SandboxTimeout, match=r"longer than 0\.3 s"):
                await box.run(hanging, seconds=0.3)
            assert time.monotonic() - began < stretched(2)
            await eventually(lambda pid=pid: gone(pid), within=stretched(2))  # type: ignore[misc]
            await assert_works(box)


async def test_cancelling_the_call_kills_the_child_within_two_seconds() -> None:
    async with sandbox() as box:
        (pid,) = box.pids
        call = asyncio.create_task(box.run(work.hang_in_native_code, seconds=100))
        await eventually(lambda: calls(pid))
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: gone(pid), within=stretched(2))
        assert time.monotonic() - began < stretched(2)
        await assert_works(box)


async def test_a_call_cancelled_while_it_waits_takes_no_slot() -> None:
    async with sandbox() as box:
        (pid,) = box.pids
        busy = asyncio.create_task(box.run(work.hang, seconds=100))
        await eventually(lambda: calls(pid))
        queued = asyncio.create_task(box.run(work.add, 1, seconds=10))
        await asyncio.sleep(0)
        for call in (queued, busy):
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        await assert_works(box)


@pytest.mark.parametrize("eater", [work.eat, work.eat_at_once, work.eat_natively])
async def test_a_function_that_uses_too_much_memory_is_stopped(eater: object) -> None:
    async with sandbox(1, 200) as box:
        with pytest.raises(SandboxOutOfMemory, match="200 MB"):
            await box.run(eater, 2_000, seconds=30)  # type: ignore[arg-type]
        await assert_works(box)


async def test_memory_of_what_the_function_starts_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LEFT_OUT", ("seccomp",))  # it refuses to start anything
    async with sandbox(1, 200) as box:
        with pytest.raises(SandboxOutOfMemory):
            await box.run(work.eat_in_a_child, 220, seconds=30)
        await assert_works(box)


async def test_less_memory_than_the_limit_is_granted() -> None:
    async with sandbox(1, 300) as box:
        assert await box.run(work.eat_at_once, 150, seconds=30) == 150 * 1_048_576


async def test_processes_started_by_the_function_are_killed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LEFT_OUT", ("seccomp",))
    async with sandbox() as box:
        (pid,) = box.pids
        call = asyncio.create_task(box.run(work.start_a_child, seconds=stretched(1.5)))
        await eventually(lambda: len(calls(pid)) == 2)
        started = calls(pid)
        with pytest.raises(SandboxTimeout):
            await call
        await eventually(lambda: all(map(gone, started)), within=stretched(2))


async def test_an_answer_over_the_limit_is_refused_and_a_large_one_below_it_is_complete() -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxOutputTooLarge, match="2 MB"):
            await box.run(work.speak, 3, seconds=10, output_mb=2)
        assert len(await box.run(work.speak, 30, seconds=10, output_mb=31)) == 30 * 1_048_576


async def test_a_file_larger_than_allowed_is_not_written() -> None:
    async with sandbox() as box:
        await box.run(work.write, "small", 1, seconds=10, file_mb=2)
        with pytest.raises(OSError, match="File too large"):
            await box.run(work.write, "large", 3, seconds=10, file_mb=2)
        await box.run(work.write, "large", 3, seconds=10, file_mb=4)


@pytest.mark.parametrize("written", [(20, 1, False), (20, 1, True), (12_000, 0, False)])
async def test_a_call_that_fills_its_folder_is_stopped(written: tuple[int, int, bool]) -> None:
    """Each file is within the limit of one; together they are too large or too many."""
    async with sandbox() as box:
        with pytest.raises(SandboxFilesTooLarge, match="more than 4 MB or 10,000 files"):
            await box.run(work.write_many, *written, seconds=50, file_mb=2)
        await box.run(work.write, "small", 1, seconds=50, file_mb=2)


async def test_no_secret_reaches_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PENSTOCK_VAULT_KEY", "AWS_SECRET_ACCESS_KEY", "SOME_API_KEY"):
        monkeypatch.setenv(name, "secret-value")
    async with sandbox() as box:
        seen = await box.run(work.environment, seconds=10)
    assert "secret-value" not in seen.values()
    assert "PATH" in seen


async def test_the_child_has_no_network_but_can_run_event_loops() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with sandbox() as box:
            with pytest.raises(PermissionError):
                await box.run(work.dial, port, seconds=10)
            if sys.platform == "linux":
                assert await box.run(work.dial_natively, port, seconds=10) == 13
            assert await box.run(work.run_a_loop, seconds=10) == "5"


async def test_a_talkative_function_does_not_block_itself() -> None:
    async with sandbox() as box:
        assert await box.run(work.chatter, 1_000, seconds=10) == "done"


async def test_modules_are_imported_before_the_first_call() -> None:
    async with sandbox(1, 256, "wave") as box:
        assert "wave" in await box.run(work.modules, seconds=10)


async def test_a_module_that_cannot_be_imported_fails_the_start_with_its_name() -> None:
    made = Sandbox(2, memory_mb=256, preload=("no_such_module_here",))
    with pytest.raises(SandboxCrashed, match="no_such_module_here"):
        await made.start()
    assert made.pids == ()


async def test_a_child_found_dead_is_replaced_before_the_call() -> None:
    async with sandbox() as box:
        (pid,) = box.pids
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: gone(pid))
        await assert_works(box)


async def test_files_that_a_call_leaves_in_its_folder_are_removed() -> None:
    async with sandbox() as box:
        left = Path(await box.run(work.leave_a_file, seconds=10))
        assert not left.exists()
        assert not left.parent.exists()
        folder = left.parent.parent
        assert folder.exists()
    assert not folder.exists()


async def test_closing_ends_running_calls_and_leaves_no_process() -> None:
    async with sandbox(2) as box:
        pids = box.pids
        call = asyncio.create_task(box.run(work.hang, seconds=100))
        await eventually(lambda: any(map(calls, pids)))
        await box.close()
        with pytest.raises(SandboxClosed):
            await call
        assert all(gone(pid) for pid in pids)
        with pytest.raises(SandboxClosed):
            await box.run(work.add, seconds=1)


async def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    code = f"from tests.integration.sandbox_work import parent_with_a_child as p; p({str(flag)!r})"
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", code], cwd=root) as parent:  # noqa: ASYNC220
        try:
            await eventually(lambda: flag.exists() and flag.read_text())
            pid = int(flag.read_text())
            await eventually(lambda: calls(pid))
            processes = [pid, *(one.pid for one in psutil.Process(pid).children(recursive=True))]
        finally:
            parent.kill()  # or leaving the block waits for it without end
    await eventually(lambda: all(map(gone, processes)), within=stretched(2))


@pytest.mark.parametrize(
    "error",
    [
        SandboxTimeout(1.0),
        SandboxCrashed(-11, "x"),
        SandboxOutOfMemory(5),
        SandboxOutputTooLarge(5),
        SandboxRaised("K", "w"),
        SandboxClosed(),
        DocumentRejected("empty", "no words", "send words"),
    ],
)
def test_every_error_travels_between_processes(error: SandboxError) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  # our own
