"""penstock up: one command starts everything, keeps it alive, and shuts it down gracefully."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from penstock.db.embedded.server import EmbeddedServer
from tests.plugins.command_line import CommandLine
from tests.plugins.prepared_cluster import PutCluster
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def alone() -> Iterator[CommandLine]:
    """penstock in an empty folder, without a database."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-up-"))
    folder.chmod(0o755)
    yield CommandLine(folder, {"PENSTOCK_DATA_DIR": "data", "PENSTOCK_PARSE_PROCESSES": "1"})
    EmbeddedServer(folder / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def migrated(alone: CommandLine, put_cluster: PutCluster) -> CommandLine:
    """penstock in a folder whose database was used before, by nobody so far."""
    put_cluster(alone.folder / "data")
    return alone


def heard(child: subprocess.Popen[str]) -> dict[str, Any]:
    """The next document it prints."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, child.stderr.read() if child.stderr else ""
    found: dict[str, Any] = json.loads(line)
    return found


def process_of(child: subprocess.Popen[str], command: str) -> psutil.Process | None:
    for each in psutil.Process(child.pid).children():
        if command in each.cmdline():
            return each
    return None


async def indexed(url: str, key: str, text: str) -> dict[str, Any]:
    async with httpx2.AsyncClient(base_url=url, headers={"X-API-Key": key}, timeout=90) as client:
        form = {"file": ("note.txt", text.encode(), "text/plain")}
        answer = await client.post("/v1/documents/upload", params={"wait": 60}, files=form)
        assert answer.is_success, answer.text
        document = await client.get(f"/v1/documents/{answer.json()['document_id']}")
        found: dict[str, Any] = document.json()
        return found


async def test_one_command_serves_documents_and_a_killed_process_comes_back(alone: CommandLine) -> None:
    with alone.running("up", "--port", "0", "--json") as child:
        first = heard(child)
        assert (first["event"], first["tenant"], first["embedded"]) == ("listening", "default", True)
        assert (await indexed(first["url"], first["api_key"], "The gate opens."))["status"] == "indexed"
        worker = process_of(child, "worker")
        assert worker is not None
        worker.kill()
        again = heard(child)
        assert (again["event"], again["process"]) == ("restarted", "worker")
        assert (await indexed(first["url"], first["api_key"], "The gate closes."))["status"] == "indexed"
        children = psutil.Process(child.pid).children(recursive=True)
        child.send_signal(signal.SIGINT)
        assert heard(child) == {"event": "stopped", "restarts": 1, "exit_code": 0}
        assert child.wait(60) == 0
        await eventually(lambda: not any(each.is_running() for each in children))
    assert not EmbeddedServer(alone.folder / "data").running()
    # The key is nowhere on disk, and is shown no second time.
    told = first["api_key"].encode()
    assert not any(told in path.read_bytes() for path in (alone.folder / "data").rglob("*") if path.is_file())
    with alone.running("up", "--port", "0", "--json", "--no-worker") as child:
        assert heard(child)["api_key"] is None
        assert process_of(child, "worker") is None
        found = alone("search", "gate", "--json")
        assert len(found.json["hits"]) == 2, found.err
        child.terminate()
        assert child.wait(60) == 0


async def test_an_api_or_a_worker_that_does_not_answer_is_replaced(migrated: CommandLine) -> None:
    impatient = migrated.with_variables(PENSTOCK_STALL_SECONDS="4")
    with impatient.running("up", "--port", "0", "--json") as child:
        first = heard(child)
        api = process_of(child, "api")
        assert api is not None
        api.send_signal(signal.SIGSTOP)
        replaced = heard(child)
        assert (replaced["event"], replaced["process"]) == ("restarted", "api")
        again = heard(child)
        assert again["event"] == "listening"
        assert not api.is_running()
        worker = process_of(child, "worker")
        assert worker is not None
        worker.send_signal(signal.SIGSTOP)
        replaced = heard(child)
        assert (replaced["event"], replaced["process"]) == ("restarted", "worker")
        assert (await indexed(again["url"], first["api_key"], "It answers."))["status"] == "indexed"
        child.terminate()
        assert heard(child) == {"event": "stopped", "restarts": 2, "exit_code": 0}
        assert child.wait(60) == 0


def test_a_port_in_use_ends_the_command_with_the_reason(alone: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken_port = taken.getsockname()[1]
        ended = alone("up", "--port", str(taken_port), timeout=120)
    assert ended.code == 1
    assert f"The API cannot listen on 127.0.0.1:{taken_port}: another program uses it" in ended.err
    assert f"--port {taken_port + 1}, --port 0 to use any free port, or set PENSTOCK_API_PORT" in ended.err
    assert not (alone.folder / "data" / "pgdata").exists(), "nothing was started"


def test_a_second_up_in_the_same_folder_names_the_first(migrated: CommandLine) -> None:
    with migrated.running("up", "--port", "0", "--json", "--no-worker") as first:
        url = heard(first)["url"]
        second = migrated("up", "--port", "0", "--json")
        assert second.code == 1
        assert second.error["code"] == "already_running"
        assert f"(process {first.pid}, {url})" in second.error["message"]
        assert f"kill {first.pid}" in second.error["remedy"]
        assert "PENSTOCK_DATA_DIR" in second.error["remedy"]
        first.terminate()
        assert first.wait(60) == 0
    with migrated.running("up", "--port", "0", "--json", "--no-worker") as third:
        assert heard(third)["event"] == "listening"
        third.terminate()
        assert third.wait(60) == 0


def test_up_on_a_server_that_is_down_names_it_and_what_to_do(alone: CommandLine) -> None:
    away = alone.with_variables(PENSTOCK_DATABASE_URL="postgresql://me:secret@127.0.0.1:1/shop")
    ended = away("up", "--port", "0")
    assert ended.code == 3
    assert "127.0.0.1:1/shop: connection refused" in ended.err
    assert "correct PENSTOCK_DATABASE_URL; without it, penstock up starts its own Postgres" in ended.err
    assert "secret" not in ended.err
    assert "starting" not in ended.err


def test_a_folder_of_qdrant_is_refused_before_anything_starts(alone: CommandLine) -> None:
    local = alone.with_variables(PENSTOCK_INDEX="qdrant", PENSTOCK_QDRANT_URL="vectors")
    ended = local("up", "--port", "0")
    assert ended.code == 1
    assert "vectors is a folder, which only one process can open, and this command starts 2" in ended.err
    assert not (alone.folder / "data").exists()


def test_a_misspelt_variable_is_a_warning_with_the_nearest_name(alone: CommandLine) -> None:
    ended = alone.with_variables(PENSTOCK_DATABSE_URL="x")("doctor")
    assert (
        "warning: PENSTOCK_DATABSE_URL is not a setting and is ignored. Did you mean PENSTOCK_DATABASE_URL?"
        in ended.err
    )


def test_up_prints_address_key_and_place_for_people(migrated: CommandLine) -> None:
    with migrated.running("up", "--port", "0") as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(6)]
        child.terminate()
        assert child.wait(60) == 0
    assert lines[0].startswith("Penstock is running: http://127.0.0.1:")
    assert lines[1] == f"Data: {migrated.folder}/data\n"
    assert lines[2].startswith("API key of tenant default: pk_")
    assert lines[4].startswith("Console: http://127.0.0.1:")
    assert lines[4].endswith("(to sign in, run: penstock login)\n")


def test_ingest_and_search_work_alone_on_the_embedded_database(alone: CommandLine) -> None:
    (alone.folder / "note.md").write_text("# Gate\n\nThe sluice gate opens at dawn.\n")
    ended = alone("ingest", "note.md", "--json", timeout=120)
    assert (ended.code, ended.json["counts"]) == (0, {"indexed": 1})
    assert "*sluice*" in alone("search", "sluice").out
    assert not EmbeddedServer(alone.folder / "data").running()
