"""The command `penstock` in a real child process, on the test's database, in an empty folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.database import Database
from tests.plugins.forked import plain_variables, start

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

    def __call__(
        self, *words: str, given: str | None = None, timeout: float = 60, fresh: bool = False
    ) -> Ended:
        """Run it to its end; `fresh` by an interpreter of its own, where its start is what is tested."""
        with self._started(words, subprocess.PIPE, fresh=fresh) as child:
            try:
                out, err = child.communicate(given, timeout=timeout)
            except BaseException:
                child.kill()
                raise
        return Ended(child.returncode, out, err)

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
    def running(
        self, *words: str, stdin: int = subprocess.DEVNULL, fresh: bool = False
    ) -> Iterator[subprocess.Popen[str]]:
        """The command while the block runs; killed at its end if it has not ended by itself."""
        child = self._started(words, stdin, fresh=fresh)
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()
            child.communicate(timeout=60)  # a child of its own may hold the pipes

    def _started(self, words: tuple[str, ...], stdin: int, *, fresh: bool) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        arguments, variables = ("penstock", *words), self._environment()
        return start(
            arguments, self.folder, variables, stdin=stdin, stdout=pipe, stderr=pipe, text=True, fresh=fresh
        )

    def _environment(self) -> dict[str, str]:
        return {**plain_variables(), **self.variables}


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
