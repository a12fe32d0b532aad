"""A Postgres as users run it: on a TCP port, with passwords, by programs of the wheel or of Debian."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.db.embedded.server_files import binaries
from penstock.db.embedded.server_user import ServerUser, server_user

SUPERUSER_PASSWORD = "the superuser's"
DEBIAN_15 = Path("/usr/lib/postgresql/15")


@dataclass(frozen=True, slots=True)
class PlainServer:
    install: Path
    folder: Path
    user: ServerUser
    port: int

    def url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def psql(
        self, script: str, *, user: str = "postgres", password: str = SUPERUSER_PASSWORD, database: str
    ) -> str:
        """Run a script as psql does from a file, to its first error."""
        done = subprocess.run(
            [self.install / "bin" / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input=script,
            env={
                "PATH": os.defpath,
                "PGHOST": "127.0.0.1",
                "PGPORT": str(self.port),
                "PGUSER": user,
                "PGPASSWORD": password,
                "PGDATABASE": database,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self) -> None:
        self._pg_ctl("-l", str(self.folder / "server.log"), "start")

    def stop(self) -> None:
        self._pg_ctl("-m", "fast", "stop")

    def _pg_ctl(self, *words: str) -> None:
        done = self.user.run(
            [self.install / "bin" / "pg_ctl", "-D", self.folder / "pgdata", "-w", "-s", *words]
        )
        assert done.returncode == 0, done.stdout


@contextmanager
def plain_server_of(install: Path, **settings: str) -> Iterator[PlainServer]:
    """Start one with these settings; gone at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-plain-"))
    user = server_user(folder / "pgdata")
    folder.chmod(0o711)
    user.give(folder)
    server = PlainServer(install, folder, user, _free_port())
    secret = folder / "secret"
    secret.write_text(SUPERUSER_PASSWORD)
    user.give(secret)
    auth = ["-U", "postgres", "--auth=scram-sha-256", f"--pwfile={secret}"]
    options = ["--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", *auth]
    done = user.run([install / "bin" / "initdb", "-D", folder / "pgdata", *options])
    assert done.returncode == 0, done.stdout
    ours = {
        "listen_addresses": "127.0.0.1",
        "port": str(server.port),
        "unix_socket_directories": "",
        "fsync": "off",
        "shared_buffers": "32MB",
        **settings,
    }
    with (folder / "pgdata" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in ours.items())
    server.start()
    try:
        yield server
    finally:
        user.run([install / "bin" / "pg_ctl", "-D", folder / "pgdata", "-m", "immediate", "-w", "-s", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def plain_server() -> Iterator[PlainServer]:
    """Of the wheel's programs: pgvector is available and only a superuser may create it."""
    with plain_server_of(wheel_programs()) as server:
        yield server


def wheel_programs() -> Path:
    return binaries(server_user(Path("/nonexistent")))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
