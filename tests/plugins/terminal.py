"""A command on a terminal: what it shows when a line is typed and Ctrl-C is pressed once."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from dataclasses import dataclass

from tests.plugins.command_line import CommandLine
from tests.plugins.forked import start


@dataclass(frozen=True, slots=True)
class Shown:
    code: int
    text: str


def on_a_terminal(
    penstock: CommandLine,
    *words: str,
    typed: str = "",
    press_at: str | None = None,
    press_after: float = 0.0,
    within: float = 60.0,
    fresh: bool = False,
) -> Shown:
    """Run it until it ends; press Ctrl-C once, `press_after` seconds after it shows `press_at` ("": starts).

    Its output is read all the time, or it could block on a full terminal; after `within` it is killed.
    """
    ours, theirs = pty.openpty()
    try:
        variables = {**os.environ, **penstock.variables, "TERM": "xterm", "COLUMNS": "100"}
        arguments = ("penstock", *words)
        child = start(
            arguments, penstock.folder, variables, stdin=theirs, stdout=theirs, stderr=theirs, fresh=fresh
        )
    finally:
        os.close(theirs)
    try:
        os.write(ours, typed.encode())
        return _read(child, ours, press_at, press_after, within)
    finally:
        child.kill()
        os.close(ours)  # before the wait: a process that writes there gets an error instead of waiting
        child.wait(10)


def _read(
    child: subprocess.Popen[bytes], ours: int, press_at: str | None, press_after: float, within: float
) -> Shown:
    text, pressed, press_time = "", False, float("inf")
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if press_at is not None and press_at in text:
            press_time = min(press_time, time.monotonic() + press_after)
        if not pressed and time.monotonic() >= press_time:
            child.send_signal(signal.SIGINT)
            pressed = True
        if not select.select([ours], [], [], 0.02)[0]:
            continue
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            code = child.wait(max(0.1, deadline - time.monotonic()))
            assert press_at is None or pressed, f"it never showed {press_at!r}, only: {text}"
            return Shown(code, text)
        text += piece.decode(errors="replace")
    what = (
        f"it went on for {within:g} s" if press_at is None else f"Ctrl-C at {press_at!r}: pressed={pressed}"
    )
    raise AssertionError(f"penstock did not end: {what}. It showed: {text[-2000:]}")
