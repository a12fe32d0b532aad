"""Where a workload runs: fresh databases on one server, and child processes with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO

import asyncpg

from bench.job import Figures, Job
from bench.plan import Plan
from bench.systems import Settings, System, load
from penstock.db.embedded.server import EmbeddedServer

ROOT = Path(__file__).parent.parent


class ChildFailed(Exception):
    def __init__(self, label: str, reason: str, errors: str) -> None:
        super().__init__(f"{label} {reason}\n{errors[-3000:]}")


@dataclasses.dataclass(frozen=True, slots=True)
class Child:
    label: str
    process: asyncio.subprocess.Process
    errors: IO[bytes]
    timeout: float

    async def figures(self) -> Figures:
        """The next line of the child, or an error with what it wrote to stderr."""
        assert self.process.stdout
        try:
            async with asyncio.timeout(self.timeout):
                line = await self.process.stdout.readline()
        except TimeoutError:
            raise ChildFailed(self.label, f"gave no figures in {self.timeout:.0f} s", self.said()) from None
        if not line:
            raise ChildFailed(self.label, "ended without figures", self.said())
        figures: Figures = json.loads(line)
        return figures

    def hang_up(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")


@dataclasses.dataclass(frozen=True, slots=True)
class Database:
    url: str
    connection: asyncpg.Connection


class Environment:
    def __init__(self, server: EmbeddedServer, plan: Plan, overrides: Mapping[str, Settings]) -> None:
        self.server = server
        self.plan = plan
        self.overrides = overrides
        self.numbers = itertools.count(1)
        self.templates: set[str] = set()

    def system(self, name: str) -> System:
        return load(name, self.overrides.get(name, {}))

    @contextlib.asynccontextmanager
    async def database(self, system: str) -> AsyncIterator[Database]:
        """A fresh copy of the system's schema, dropped afterwards: no round inherits another's bloat."""
        admin = await asyncpg.connect(self.server.url())
        template, name = f"{system}_template", f"{system}_{next(self.numbers)}"
        try:
            if template not in self.templates:
                await admin.execute(f'create database "{template}"')
                await self.system(system).install(self.server.url(database=template))
                self.templates.add(template)
            await admin.execute(f'create database "{name}" template "{template}"')
            connection = await asyncpg.connect(self.server.url(database=name))
            try:
                yield Database(self.server.url(database=name), connection)
            finally:
                await connection.close()
                await admin.execute(f'drop database "{name}" with (force)')
        finally:
            await admin.close()

    @contextlib.asynccontextmanager
    async def child(self, system: str, role: str, job: Job) -> AsyncIterator[Child]:
        settings = {**self.overrides.get(system, {}), **job.settings}
        arguments = (system, role, dataclasses.replace(job, settings=settings).dump())
        with tempfile.TemporaryFile() as errors:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bench.child", *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors, cwd=ROOT,
            )  # fmt: skip
            try:
                yield Child(f"{system} {role}", process, errors, self.plan.child_timeout)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(30):
                        await process.wait()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()

    async def run(self, system: str, role: str, job: Job) -> Figures:
        async with self.child(system, role, job) as child:
            return await child.figures()
