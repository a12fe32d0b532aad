"""Code that took over a parser gets nowhere: every escape is tried from inside, as root and as a user."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from penstock.sandbox import (
    InputFile,
    Sandbox,
    SandboxCrashed,
    SandboxError,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
    landlock,
    process,
)
from penstock.sandbox.syscalls import ARCHITECTURES, LINUX, MACHINE
from tests.plugins.workers import eventually
from tests.security import hostile
from tests.security.hostile import ATTACKS

ROOT = str(Path(__file__).parents[2])
TRIAL = (
    "import sys; sys.path.append(sys.argv[1]); import runpy; "
    "sys.argv[1:] = sys.argv[2:]; runpy.run_module('tests.security.sandbox_trial', run_name='__main__')"
)

pytestmark = [
    pytest.mark.fresh_children,
    pytest.mark.skipif(not LINUX or MACHINE not in ARCHITECTURES, reason="the kernel's means are Linux's"),
    pytest.mark.skipif(LINUX and landlock.version() == 0, reason="this kernel has no Landlock"),
]


@contextlib.asynccontextmanager
async def sandbox(memory_mb: int = 256) -> AsyncIterator[Sandbox]:
    box = Sandbox(1, memory_mb=memory_mb)
    await box.start()
    try:
        yield box
    finally:
        await box.close()


def _assert_nothing_escaped(outcomes: dict[str, str]) -> None:
    got = {name: outcomes[name] for name in ATTACKS if not outcomes[name].startswith("refused: ")}
    assert not got, (got, outcomes["layers"])
    assert (outcomes["the key"], outcomes["the folder"]) == ("key", "s vault.key")


def test_nothing_escapes_from_the_sandbox_of_this_user() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRIAL, ROOT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    _assert_nothing_escaped(json.loads(done.stdout))


@pytest.mark.skipif(os.geteuid() != 0, reason="the test before was a plain user's")
def test_nothing_escapes_from_the_sandbox_of_a_plain_user(as_nobody: Callable[[list[str]], str]) -> None:
    _assert_nothing_escaped(json.loads(as_nobody(["-c", TRIAL, ROOT])))


@pytest.mark.parametrize("missing", [("namespaces", "users"), ("namespaces", "users", "unprivileged")])
def test_files_and_sockets_stay_closed_where_the_kernel_allows_no_namespaces(
    missing: tuple[str, ...],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRIAL, ROOT, *missing],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    if "unprivileged" in missing:
        outcomes |= dict.fromkeys(("be root", "become root"), "refused: not looked at")
    _assert_nothing_escaped(outcomes)


@pytest.mark.parametrize("namespaces", [True, False])
async def test_a_double_fork_does_not_outlive_its_call(
    monkeypatch: pytest.MonkeyPatch, namespaces: bool
) -> None:
    """Without seccomp, which would refuse the fork: what it started is found and killed."""
    monkeypatch.setattr(process, "LEFT_OUT", ("seccomp",) if namespaces else ("seccomp", "namespaces"))
    async with sandbox() as box:
        assert await box.run(hostile.double_fork, "flag", seconds=20) == "left"
        (keeper,) = box.pids
        # What is left are the keeper and, in namespaces, the server of calls.
        assert len(psutil.Process(keeper).children(recursive=True)) == (1 if namespaces else 0)


async def test_a_fork_bomb_ends_with_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LEFT_OUT", ("seccomp",))
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    async with sandbox() as box:
        (keeper,) = box.pids
        with pytest.raises(SandboxError):
            await box.run(hostile.fork_bomb, seconds=0.5)
        await eventually(lambda: not psutil.pid_exists(keeper), within=10)
        assert await box.run(hostile.look_for_notes, seconds=20) == []
    assert resource.getrlimit(resource.RLIMIT_NPROC) == before


async def test_a_call_finds_nothing_of_the_previous_one() -> None:
    async with sandbox() as box:
        await box.run(hostile.leave_a_note, "tenant A's", seconds=20)
        assert await box.run(hostile.look_for_notes, seconds=20) == []


async def test_a_second_answer_does_not_reach_the_next_call() -> None:
    async with sandbox() as box:
        assert await box.run(hostile.answer_twice, '"mine"', seconds=20) == "mine"
        assert await box.run(hostile.send_a_descriptor, seconds=20) == "sent"
        assert await box.run(hostile.look_for_notes, seconds=20) == []


async def test_a_claimed_length_costs_no_memory() -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxOutputTooLarge):
            await box.run(hostile.claim_length, 0xFFFF_FFFF, seconds=20, output_mb=4)
        before = psutil.Process().memory_info().rss
        with pytest.raises(SandboxTimeout):
            await box.run(hostile.claim_length, 900 << 20, seconds=1, output_mb=1_000)
        assert psutil.Process().memory_info().rss - before < 100 << 20


@pytest.mark.parametrize("depth", [1_000, 1_000_000])
async def test_an_answer_nested_deeply_is_refused(depth: int) -> None:
    async with sandbox() as box:
        began = time.monotonic()
        with pytest.raises(SandboxRaised, match="unreadable result"):
            await box.run(hostile.answer_deeply, depth, seconds=30)
        assert time.monotonic() - began < 30


async def test_an_answer_of_another_type_is_refused() -> None:
    async with sandbox() as box:
        with pytest.raises(SandboxRaised, match="unreadable result"):
            await box.run(hostile.answer_wrongly, seconds=30)


async def test_a_call_that_cannot_be_confined_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer that held when the child started and does not close now: no call runs without it."""
    async with sandbox() as box:
        (child,) = box._children
        made = child.folders.for_a_call

        def made_and_gone() -> str:
            folder = made()
            os.rmdir(folder)
            return folder

        monkeypatch.setattr(child.folders, "for_a_call", made_and_gone)
        with pytest.raises(SandboxCrashed, match="exit code 70"):
            await box.run(hostile.look_for_notes, seconds=20)


async def test_files_of_a_call_are_removed_however_it_was_closed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    async with sandbox() as box:
        (child,) = box._children
        await box.run(hostile.leave_deep_folders, str(outside), seconds=20)
        assert os.listdir(child.folders.path) == []
    assert outside.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("module", ["json", "email", "pydantic", "signal"])
async def test_a_module_in_the_working_directory_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with sandbox() as box:
        assert await box.run(hostile.look_for_notes, seconds=20) == []
    assert not (tmp_path / "ran").exists()


async def test_only_the_given_file_is_passed_to_the_child(tmp_path: Path) -> None:
    given, other = tmp_path / "given", tmp_path / "other"
    given.write_text("for the call")
    other.write_text("not for the call")
    async with sandbox() as box:
        assert await box.run(hostile.read_given, InputFile(given), str(other), seconds=20) == [
            "for the call",
            "no",
        ]
    await asyncio.sleep(0)
    assert given.read_text() == "for the call"
