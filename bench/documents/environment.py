"""Where documents are measured: a fresh migrated database and folder per case, and child processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from bench.documents.place import Job, Place
from bench.documents.sizes import Sizes
from bench.environment import ROOT, Child
from bench.job import Figures
from penstock.db.connect import connect
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.logins import OPERATOR, RUNTIME, create_logins
from penstock.db.migrator import migrate

TEMPLATE = "documents_template"


class DocumentEnvironment:
    def __init__(self, server: EmbeddedServer, sizes: Sizes) -> None:
        self.server = server
        self.sizes = sizes
        self._numbers = itertools.count(1)
        self._template_is_made = False

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[Place]:
        """A copy of the migrated schema and an empty folder, both gone afterwards."""
        if not self._template_is_made:
            await self._make_template()
        name = f"documents_{next(self._numbers)}"
        await self._execute(f'create database "{name}" template "{TEMPLATE}"')
        try:
            with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
                yield Place(
                    admin_url=self.server.url(database=name),
                    runtime_url=self.server.url(RUNTIME, name),
                    operator_url=self.server.url(OPERATOR, name),
                    folder=folder,
                    server_pid=self._server_pid(),
                )
        finally:
            await self._execute(f'drop database "{name}" with (force)')

    async def run(self, role: str, embedder: str = "minilm") -> Figures:
        """The figures of a child that has a place to itself."""
        async with self.place() as place:
            words = (
                sys.executable,
                "-m",
                "bench.documents.child",
                role,
                Job(place, self.sizes, embedder).dump(),
            )
            async with running(role, words, self.sizes.child_timeout, cwd=ROOT) as child:
                return await child.figures()

    async def _make_template(self) -> None:
        await self._execute(f'create database "{TEMPLATE}"')
        connection = await connect(self.server.url(database=TEMPLATE), application_name="bench")
        try:
            await migrate(connection)
            await create_logins(connection)
        finally:
            await connection.close()
        self._template_is_made = True

    async def _execute(self, statement: str) -> None:
        connection = await connect(self.server.url(), application_name="bench", timeout=60)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    def _server_pid(self) -> int:
        return int((self.server.data_dir / "pgdata" / "postmaster.pid").read_text().split()[0])


@contextlib.asynccontextmanager
async def running(
    label: str, words: Sequence[str], timeout: float, *, cwd: Path, variables: Mapping[str, str] | None = None
) -> AsyncIterator[Child]:
    """A process for the block, ended by SIGTERM and, if need be, killed."""
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=errors,
            cwd=cwd, env={**os.environ, **(variables or {})},
        )  # fmt: skip
        try:
            yield Child(label, process, errors, timeout)
        finally:
            if process.returncode is None:
                process.terminate()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(30):
                        await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
