"""Forks the children of an engine inside a test, embedder and parsers, from processes that have loaded them.

They are what a start of an interpreter would make of them: tests/contract/test_forked_children.py. A test of
these children themselves has the mark `fresh_children` and starts them as the product does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.plugins.forked import fork, standard_streams

EMBEDDER = [sys.executable, "-P", "-m", "penstock.embed.local.child", "wordllama"]
PARSER = [sys.executable, "-I", "-c"]
PARSER_NAME = "penstock.sandbox.child"

start_fresh: Any = subprocess.Popen._execute_child  # type: ignore[attr-defined]
"""How Popen itself starts a process."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fresh_children: embedders and parsers are started, not forked")


@pytest.fixture(autouse=True)
def forked_children(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "linux" and request.node.get_closest_marker("fresh_children") is None:
        monkeypatch.setattr(subprocess.Popen, "_execute_child", _start)


def _start(
    self: Any, args: Any, executable: Any, preexec: Any, close: bool, passed: Sequence[int], folder: Any,
    variables: Mapping[str, str] | None, info: Any, flags: int, shell: bool, p2cread: int, p2cwrite: int,
    c2pread: int, c2pwrite: int, errread: int, errwrite: int, *rest: Any,
) -> None:  # fmt: skip
    """Popen's own start, but for the two kinds of children."""
    pipes = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
    kind = _kind(args)
    if kind is None:
        start_fresh(
            self,
            args,
            executable,
            preexec,
            close,
            passed,
            folder,
            variables,
            info,
            flags,
            shell,
            *pipes,
            *rest,
        )
        return
    *_, new_session, _group = rest
    try:
        self.pid = fork(
            kind,
            args[2],
            args[3],
            args[4:],
            folder=os.fspath(folder or os.getcwd()),
            variables=os.environ if variables is None else variables,
            descriptors=standard_streams(p2cread, c2pwrite, errwrite) | {number: number for number in passed},
            new_session=new_session,
        )
        self._child_created = True
    finally:
        self._close_pipe_fds(*pipes)


def _kind(args: Any) -> str | None:
    if not isinstance(args, (list, tuple)):
        return None
    words = list(args)
    if words[: len(EMBEDDER)] == EMBEDDER:
        return "embedder"
    return "parser" if words[: len(PARSER)] == PARSER and words[4:5] == [PARSER_NAME] else None
