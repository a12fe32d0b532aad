"""npm's BullMQ 4, 5 and 6 and Penstock's bridge, on the Node of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from penstock.db.flock import locked
from tests.plugins.valkey import Valkey
from tools.node_packages import CannotInstall, installed

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "bullmq"
BRIDGE = ROOT / "examples" / "bullmq" / "bridge.mjs"
Version = Literal[4, 5, 6, "postgres"]
"""The last is BullMQ 6 on its Postgres backend; `ask("postgres", url=…, schema=…)` first."""
VERSIONS: tuple[Version, ...] = (4, 5, 6)


@dataclass(frozen=True, slots=True)
class NodePackages:
    """Where they are: a folder for each version of BullMQ, as a team's project has it."""

    node: str
    folder: Path

    def project(self, version: Version) -> Path:
        return self.folder / f"v{version}"


@pytest.fixture(scope="session")
def node_packages() -> NodePackages:
    """Installed once per lock file, into the environment that runs the tests; never into the checkout."""
    lock = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = Path(sys.prefix) / "node-packages" / f"bullmq-{lock}"
    folder.parent.mkdir(exist_ok=True)
    try:
        with locked(folder.parent / "lock"):
            node = installed(SOURCES, folder)
            for version in VERSIONS:
                _make_project(folder, version)
    except CannotInstall as error:
        pytest.skip(f"BullMQ cannot be installed here: {error}")
    return NodePackages(node, folder)


def _make_project(folder: Path, version: Version) -> None:
    modules = folder / f"v{version}" / "node_modules"
    modules.mkdir(parents=True, exist_ok=True)
    for name, package in (("bullmq", f"bullmq-{version}"), ("pg", "pg"), ("ioredis", "ioredis")):
        if not (modules / name).exists():
            (modules / name).symlink_to(folder / "node_modules" / package)


@dataclass(frozen=True, slots=True)
class Hands:
    """A team's producers: one Node process that has all three versions loaded."""

    process: subprocess.Popen[str]

    def ask(self, what: str, **fields: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"ask": what, **fields}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def add(self, queue: str, *jobs: dict[str, Any], version: Version = 6) -> list[dict[str, Any]]:
        """Jobs as addBulk takes them: name, data, opts. The answer has their ids and timestamps."""
        added: list[dict[str, Any]] = self.ask("add", version=version, queue=queue, jobs=jobs)
        return added

    def counts(self, queue: str, *, version: Version = 6) -> dict[str, int]:
        """How many jobs are in each state that has some."""
        counts: dict[str, int] = self.ask("counts", version=version, queue=queue)
        return {state: n for state, n in counts.items() if n}

    def failed(self, queue: str, *, version: Version = 6) -> list[dict[str, Any]]:
        failed: list[dict[str, Any]] = self.ask("failed", version=version, queue=queue)
        return failed


@contextmanager
def hands_on(valkey: Valkey | None, packages: NodePackages) -> Iterator[Hands]:
    """Producers that are connected to this server; without one, they are told later which Postgres to use."""
    connection = {"host": "127.0.0.1", "port": valkey.port if valkey else 0}
    process = subprocess.Popen(
        [packages.node, SOURCES / "hands.mjs", json.dumps(connection)],
        cwd=packages.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Hands(process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def hands(valkey: Valkey, node_packages: NodePackages) -> Iterator[Hands]:
    with hands_on(valkey, node_packages) as started:
        yield started


@dataclass(slots=True)
class Bridges:
    """Starts bridges with one configuration; ends those that still run."""

    packages: NodePackages
    folder: Path
    environment: dict[str, str]
    config: dict[str, Any]
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *, version: Version = 6, fault: str = "", **changes: Any) -> subprocess.Popen[str]:
        path = self.folder / f"bridge-{len(self.running)}.json"
        path.write_text(json.dumps({**self.config, **changes}))
        process = subprocess.Popen(
            [self.packages.node, BRIDGE, path],
            cwd=self.packages.project(version),
            env={"PATH": os.defpath, **self.environment, "PENSTOCK_FAULT": fault},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(process)
        return process

    @staticmethod
    def stop(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
        """Ends it as a deployment does; returns what it logged."""
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said
        return [json.loads(line) for line in said.splitlines()]

    def end(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            if process.stdout is not None and not process.stdout.closed:
                print(process.communicate()[0])  # pytest shows it where the test failed
