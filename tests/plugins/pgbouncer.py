"""Debian's PgBouncer in transaction mode in front of the test's server, with fewer backends than clients."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import parse_qs, urlsplit

import pytest

from penstock.db.embedded.server_user import server_user
from tests.plugins.database import Database

PROGRAM = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
"""The variable names another version than the system's."""


PREPARING = (1, 21)
"""The first version that keeps named prepared statements across backends (max_prepared_statements)."""


@dataclass(frozen=True, slots=True)
class PgBouncer:
    """One in front of one database."""

    database: Database
    port: int
    passwords: dict[str, str]
    prepares: bool
    """It keeps named prepared statements, so that clients may use them."""

    def url(self, login: str) -> str:
        return f"postgresql://{login}:{self.passwords[login]}@127.0.0.1:{self.port}/{self.database.name}"


@pytest.fixture(params=[False, True], ids=["without-prepared-statements", "with-prepared-statements"])
def pgbouncer(database: Database, request: pytest.FixtureRequest) -> Iterator[PgBouncer]:
    """With each of the two set-ups of docs/operate/behind-a-pooler.md that this version can do."""
    prepares: bool = request.param
    if not Path(PROGRAM).exists():
        pytest.skip("pgbouncer is not installed; as root: apt-get install pgbouncer")
    if prepares and (found := version()) < PREPARING:
        pytest.skip(
            f"PgBouncer {'.'.join(map(str, found))} keeps no prepared statements, 1.21 and newer do;"
            " the variable PGBOUNCER names another program"
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    lines = database.server.password_file.read_text().splitlines()
    passwords = {line.split(":")[3]: line.rsplit(":", 1)[1] for line in lines}
    sockets = parse_qs(urlsplit(database.admin_url).query)["host"][0]
    # Only the server's own user may enter the folder of its socket, and PgBouncer does not run as root.
    user = server_user(Path(sockets))
    folder = Path(mkdtemp(prefix="pgbouncer-"))
    (folder / "users").write_text("".join(f'"{name}" "{word}"\n' for name, word in passwords.items()))
    (folder / "pgbouncer.ini").write_text(
        f"""
[databases]
* = host={sockets} port=5432
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
{"max_prepared_statements = 200" if prepares else ""}
"""
    )
    for path in (folder, *folder.iterdir()):
        user.give(path)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PROGRAM, "-q", folder / "pgbouncer.ini"],
            stdin=subprocess.DEVNULL,
            stderr=log,
            user=user.uid if user.switch else None,
            group=user.gid if user.switch else None,
            extra_groups=() if user.switch else None,
        )
    try:
        deadline = time.monotonic() + 30
        while not _listens(port):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "PgBouncer does not listen"
            time.sleep(0.02)
        yield PgBouncer(database, port, passwords, prepares)
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def version() -> tuple[int, ...]:
    """The installed one, from `PgBouncer 1.18.0`."""
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in said.split()[1].split(".") if part.isdigit())


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
