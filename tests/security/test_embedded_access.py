"""Nobody else can use the embedded server or its files: no other user, and nobody by reaching the socket."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from penstock.blobs.store import Blobs
from penstock.db.connect import connect
from penstock.db.embedded.cluster import Cluster
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.login_names import OPERATOR, RUNTIME
from penstock.db.private_files import make_private_dir
from penstock.settings import Settings
from penstock.vault import Vault
from tests.plugins.command_line import CommandLine
from tests.plugins.prepared_cluster import PutCluster

FAST = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB", "max_connections": "20"}
LOGINS = ("postgres", RUNTIME, OPERATOR)

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

READ_ALL = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
    except (PermissionError, FileNotFoundError):
        continue
    print(path)
"""

CONNECT = """
import socket, sys
line = socket.socket(socket.AF_UNIX)
try:
    line.connect(sys.argv[1])
except (PermissionError, FileNotFoundError):
    sys.exit()
print("connected")
"""

SERVE = """
import os, sys, subprocess
from pathlib import Path
from penstock.db.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]), dict(pair.split("=") for pair in sys.argv[2:]))
server.start()
for login in ("postgres", "penstock_runtime", "penstock_operator"):
    psql = [server.binary("psql"), server.url(login), "-XAtc", "select session_user"]
    print(subprocess.run(psql, capture_output=True, text=True).stdout.strip())
    psql[1] = psql[1].split("&passfile")[0]
    bare = {"PATH": os.environ["PATH"]}
    print(subprocess.run([*psql, "-w"], capture_output=True, env=bare).returncode)
server.release(stop_when_last=True)
"""


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-access-"))
    folder.chmod(0o755)
    yield folder / "data"
    EmbeddedServer(folder / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def own_server(data_dir: Path, put_empty_cluster: PutCluster) -> EmbeddedServer:
    put_empty_cluster(data_dir)
    server = EmbeddedServer(data_dir, FAST)
    server.start()
    return server


def without_password(url: str) -> str:
    return url.split("&passfile")[0] + "&passfile=/nonexistent"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("login", LOGINS)
async def test_reaching_the_socket_is_not_enough_to_log_in(own_server: EmbeddedServer, login: str) -> None:
    connection = await connect(own_server.url(login))
    assert await connection.fetchval("select session_user") == login
    await connection.close()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await connect(without_password(own_server.url(login)))


async def test_the_password_of_a_runtime_login_does_not_open_the_superusers(
    own_server: EmbeddedServer,
) -> None:
    secret = {line.split(":")[3]: line.split(":")[4] for line in own_server.password_file.read_text().split()}
    assert len(set(secret.values())) == 3
    bare = without_password(own_server.url("postgres"))
    for login in (RUNTIME, OPERATOR):
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(bare, password=secret[login])


@pytest.mark.parametrize("login", [RUNTIME, OPERATOR])
async def test_a_runtime_login_cannot_become_superuser(own_server: EmbeddedServer, login: str) -> None:
    connection = await connect(own_server.url(login))
    try:
        for attempt in (
            "set role postgres",
            "set session authorization postgres",
            f"alter role {login} superuser",
            f"alter role {login} createrole",
            "alter role postgres password 'mine'",
            "create role intruder superuser login",
            f"grant postgres to {login}",
            f"grant pg_execute_server_program to {login}",
            "alter system set hba_file = '/tmp/mine'",
            "select pg_read_file('pg_hba.conf')",
            "copy (select 1) to program 'id'",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(attempt)
        assert not await connection.fetchval(
            "select rolsuper or rolcreaterole or rolbypassrls from pg_roles where rolname = session_user"
        )
    finally:
        await connection.close()


def test_every_file_is_private(data_dir: Path, embedded_with_documents: CommandLine) -> None:
    open_ones = [
        (path, oct(mode(path)))
        for path in (data_dir, *data_dir.rglob("*"))
        if not path.is_symlink() and mode(path) & 0o077 and path != data_dir
    ]
    assert open_ones == []
    assert mode(data_dir) == (0o710 if os.geteuid() == 0 else 0o700)
    assert any(path.is_file() for path in (data_dir / "blobs").rglob("*"))


@pytest.fixture
def embedded_with_documents(data_dir: Path, tmp_path: Path) -> CommandLine:
    """A data directory that holds a document, made by commands under the common umask."""
    (tmp_path / "note.txt").write_text("The delivery was late and the supplier pays.")
    penstock = CommandLine(tmp_path, {"PENSTOCK_DATA_DIR": str(data_dir)})
    before = os.umask(0o022)
    try:
        ended = penstock("ingest", "note.txt", timeout=120)
    finally:
        os.umask(before)
    assert ended.code == 0, ended.err
    return penstock


@root_only
def test_another_user_reads_nothing_and_reaches_no_socket(
    data_dir: Path, embedded_with_documents: CommandLine, as_nobody: Callable[[list[str]], str]
) -> None:
    embedded_with_documents("db", "url")  # leaves the server running
    everything = [str(data_dir), *(str(path) for path in data_dir.rglob("*"))]
    assert as_nobody(["-c", READ_ALL, *everything]) == ""
    socket = Cluster.locate(data_dir).sockets / ".s.PGSQL.5432"
    assert socket.exists()
    assert as_nobody(["-c", CONNECT, str(socket)]) == ""


@root_only
def test_a_plain_user_has_passwords_too(data_dir: Path, as_nobody: Callable[[list[str]], str]) -> None:
    data_dir.mkdir()
    shutil.chown(data_dir, "nobody")
    said = as_nobody(["-c", SERVE, str(data_dir), *(f"{name}={value}" for name, value in FAST.items())])
    assert said.split() == ["postgres", "2", RUNTIME, "2", OPERATOR, "2"]
    assert mode(data_dir) == 0o700
    assert mode(data_dir / "pgpass") == 0o600
    assert (data_dir / "pgpass").owner() == "nobody"


@pytest.mark.parametrize("left_running", [False, True])
async def test_a_data_directory_of_an_older_release_is_closed_at_the_next_start(
    own_server: EmbeddedServer, data_dir: Path, *, left_running: bool
) -> None:
    connection = await connect(own_server.url())
    await connection.execute("create table kept as select 7 as n")
    for login in LOGINS:
        await connection.execute(f"alter role {login} password null")
    await connection.close()
    own_server.password_file.unlink()
    cluster = Cluster.locate(data_dir)
    (cluster.pgdata / "pg_hba.conf").write_text("local all all trust\n")
    own_server.release()
    if left_running:
        assert cluster.run("pg_ctl", "-D", cluster.pgdata, "reload").returncode == 0
    else:
        own_server.stop()
    blobs = data_dir / "blobs" / "documents"
    blobs.mkdir(parents=True)
    (blobs / "one.txt").write_text("an original")
    for path in (data_dir, data_dir / "blobs", blobs):
        path.chmod(0o755)
    for path in (blobs / "one.txt", data_dir / "lock", data_dir / "holders"):
        path.chmod(0o644)

    again = EmbeddedServer(data_dir, FAST)
    again.start()
    Blobs.open(Settings(_env_file=None, data_dir=data_dir))

    connection = await connect(again.url())
    assert await connection.fetchval("select n from kept") == 7
    await connection.close()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await connect(without_password(again.url()))
    assert mode(data_dir) & 0o067 == 0
    for path in (blobs / "one.txt", data_dir / "lock", data_dir / "holders", again.password_file):
        assert mode(path) == 0o600, path


async def test_lost_passwords_are_created_again(own_server: EmbeddedServer, data_dir: Path) -> None:
    own_server.stop()
    before = own_server.password_file.read_text()
    own_server.password_file.unlink()
    again = EmbeddedServer(data_dir, FAST)
    again.start()
    assert again.password_file.read_text() != before
    for login in LOGINS:
        await (await connect(again.url(login))).close()


def test_a_folder_shared_with_others_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    make_private_dir(shared)
    assert mode(shared) == 0o1777
    here = Path.cwd()
    before = mode(here)
    make_private_dir(here)
    assert mode(here) == before


def test_the_vaults_key_lies_in_a_private_folder(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        Vault.from_settings(Settings(_env_file=None, data_dir=tmp_path / "new"))
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o700
    assert mode(tmp_path / "new" / "vault.key") == 0o600


def test_no_password_is_an_argument_or_in_the_address(own_server: EmbeddedServer) -> None:
    secret = own_server.password_file.read_text().split()[0].split(":")[4]
    assert secret not in own_server.url()
    listing = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert secret not in listing
