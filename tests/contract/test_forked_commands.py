"""A command that a test forks is what a fresh `python -m penstock` would be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

import psutil
import pytest

from tests.plugins.command_line import CommandLine
from tests.plugins.terminal import on_a_terminal

PROBE = """
import gc, json, locale, logging, os, resource, signal, sys, threading, time, warnings
main = sys.modules["__main__"]
streams = ((sys.stdin, sys.__stdin__), (sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__))
limits = [name for name in dir(resource) if name.startswith("RLIMIT")]
print("\\n" + json.dumps({
    "arguments": [sys.argv, sys.orig_argv],
    "imports": [sys.path, os.getcwd(), "tests" in sys.modules, sys.dont_write_bytecode],
    "main": [main.__name__, main.__file__, main.__spec__.name],
    "environment": [sorted(os.environ.items()), time.tzname],
    "interpreter": [str(sys.flags), str(sys._xoptions), sys.getrecursionlimit(), sys.getswitchinterval()],
    "warnings": [str(warnings.filters), sys.warnoptions],
    "hooks": [sys.excepthook.__module__, threading.excepthook.__module__, str(sys.gettrace())],
    "collecting": [gc.get_threshold(), gc.isenabled()],
    "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
    "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    "open files": [number for number in range(100) if os.path.exists(f"/proc/self/fd/{number}")],
    "process": [os.getppid(), os.getpgid(0), os.getsid(0), threading.active_count(), os.umask(0o077)],
    "locale": [locale.getencoding(), sys.getfilesystemencoding(), locale.setlocale(locale.LC_ALL)],
    "streams": [[each.name, each.mode, each.encoding, each.errors, each.line_buffering, each.newlines,
        each.write_through, each.isatty(), each is original] for each, original in streams],
    "log": [logging.root.level, len(logging.root.handlers), logging.lastResort.level],
    "limits": [resource.getrlimit(getattr(resource, name)) for name in limits],
}))
"""


def described(text: str) -> Any:
    found = [line for line in text.splitlines() if line.startswith("{")]
    assert len(found) == 1, text
    return json.loads(found[0])


@pytest.fixture
def probe(penstock: CommandLine) -> CommandLine:
    (penstock.folder / "probe.py").write_text(PROBE)
    return penstock.with_variables(TZ="Pacific/Auckland", EXTRA="1")


def test_a_forked_command_finds_what_a_fresh_one_finds(probe: CommandLine) -> None:
    before = os.umask(0o027)
    try:
        fresh, forked = (probe("worker", "--app", "probe", fresh=fresh) for fresh in (True, False))
    finally:
        os.umask(before)
    assert (forked.code, forked.err) == (fresh.code, fresh.err)
    assert described(forked.out) == described(fresh.out)
    assert described(forked.out)["process"][0] == os.getpid()


def test_a_forked_command_finds_the_same_terminal(probe: CommandLine) -> None:
    fresh, forked = (on_a_terminal(probe, "worker", "--app", "probe", fresh=fresh) for fresh in (True, False))
    assert described(forked.text) == described(fresh.text)
    assert forked.code == fresh.code


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--help",
        "queue stats --json",
        "queue limit nothing",
        "worker --app shop:other",
        "tenant create a --debug",
    ],
)
def test_a_forked_command_answers_as_a_fresh_one(words: str, penstock: CommandLine) -> None:
    fresh, forked = (penstock(*words.split(), fresh=fresh) for fresh in (True, False))
    assert forked == fresh


def test_a_forked_command_is_a_child_with_signals_and_an_exit_code(penstock: CommandLine) -> None:
    for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)):
        with penstock.running("queue", "stats", "--watch") as child:
            assert psutil.Process(child.pid).ppid() == os.getpid()
            assert child.stdout is not None
            assert child.stdout.readline()
            assert child.poll() is None
            child.send_signal(number)
            assert child.wait(30) == code


def test_a_command_with_variables_of_the_interpreter_is_fresh(penstock: CommandLine) -> None:
    with penstock.with_variables(PYTHONUTF8="0").running("--help") as child:
        assert type(child) is subprocess.Popen


ENDING = """
import atexit, threading, time
def late():
    time.sleep(0.1)
    print("thread")
atexit.register(print, "at exit")
threading.Thread(target=late).start()
"""


def test_a_forked_command_ends_as_a_fresh_one(penstock: CommandLine) -> None:
    """It waits for its threads and runs its exit functions."""
    (penstock.folder / "ending.py").write_text(ENDING)
    fresh, forked = (penstock("worker", "--app", "ending", fresh=fresh) for fresh in (True, False))
    assert forked == fresh
    assert forked.out.split("\n") == ["thread", "at exit", ""]
