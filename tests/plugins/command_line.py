"""The command `penstock` in a real child process, on the test's database, in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.database import Database

APP = """
from penstock import Penstock, Table

app = Penstock()
other = 7

@app.task("shop.sell", queue="shop")
async def sell(payload: dict[str, int]) -> None:
    pass

@app.task("shop.break", queue="shop", retry=Table((0.0,)))
async def broken(payload: dict[str, int]) -> None:
    raise RuntimeError("out of \\x1b[31mstock\\nsecond line")

app.schedule("0 3 * * *", sell, {"item": 1}, name="nightly")
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The one document on stderr."""
        return json.loads(self.err)["error"]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs penstock with these variables in this folder."""

    folder: Path
    variables: Mapping[str, str]

    def with_variables(self, **variables: str) -> CommandLine:
        return CommandLine(self.folder, {**self.variables, **variables})

    def __call__(self, *words: str, given: str | None = None, timeout: float = 60) -> Ended:
        return self.python("-m", "penstock", *words, given=given, timeout=timeout)

    def python(self, *words: str, given: str | None = None, timeout: float = 60) -> Ended:
        """The interpreter with these arguments, where a command would run."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self._environment(),
            input="" if given is None else given,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def running(self, *words: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
        """The command while the block runs; killed at its end if it has not ended by itself."""
        child = subprocess.Popen(
            self._command(words),
            cwd=self.folder,
            env=self._environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()
            child.communicate(timeout=60)  # a child of its own may hold the pipes

    def _command(self, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "penstock", *words]

    def _environment(self) -> dict[str, str]:
        plain = {
            name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")
        }
        return {**plain, **self.variables}


@pytest.fixture
def penstock(database: Database, tmp_path: Path) -> CommandLine:
    """penstock on the test's database; the module `shop` is in its folder."""
    (tmp_path / "shop.py").write_text(APP)
    return CommandLine(tmp_path, addresses(database))


def addresses(database: Database) -> dict[str, str]:
    return {
        "PENSTOCK_DATABASE_URL": database.runtime_url,
        "PENSTOCK_OPERATOR_URL": database.operator_url,
        "PENSTOCK_ADMIN_URL": database.admin_url,
    }
