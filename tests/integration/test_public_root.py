"""`Penstock` is the one root: documents, search, sources, messages, processes and tasks of one program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock import Penstock
from penstock.engine.operator_access import operators
from penstock.errors import InvalidArgument, NotFound, Refused
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import settings_for

GATE = "# The gate\n\nThe sluice gate opens at dawn.\n"
WHEEL = "# The wheel\n\nThe mill wheel turns at noon.\n"


def make_app(database: Database, folder: Path) -> Penstock:
    return Penstock(settings_for(database, folder / "data"))


async def test_a_folder_is_ingested_found_listed_and_deleted(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "gate.md").write_text(GATE)
    (folder / "empty.md").touch()
    async with make_app(database, tmp_path) as app:
        gate, empty = sorted(await app.ingest(folder, worker=True), key=lambda file: file.path, reverse=True)
        assert (gate.path.name, gate.status, gate.reason) == ("gate.md", "indexed", None)
        assert (empty.path.name, empty.status, empty.document_id) == ("empty.md", "refused", None)
        assert "empty" in (empty.reason or "")
        answer = await app.search("when does the gate open?", limit=1)
        (hit,) = answer
        assert (hit.title, hit.page) == ("The gate", None)
        assert "sluice gate opens at dawn" in f"{hit.snippet}"
        assert len(answer) == 1
        assert [file.status for file in await app.ingest(folder / "gate.md")] == ["unchanged"]
        listed = await app.documents.list()
        assert [document.document_id for document in listed.items] == [gate.document_id]
        assert gate.document_id is not None
        await app.documents.delete(gate.document_id)
        assert not (await app.documents.list()).items


async def test_without_waiting_the_files_stay_in_the_queue(database: Database, tmp_path: Path) -> None:
    (tmp_path / "gate.md").write_text(GATE)
    async with make_app(database, tmp_path) as app:
        (file,) = await app.ingest(tmp_path / "gate.md", wait=False)
        assert file.status == "queued"
        assert file.document_id is not None
        assert (await app.documents.show(file.document_id)).status == "pending"


async def test_an_upload_from_memory_is_known_by_its_external_id_or_its_content(
    database: Database, tmp_path: Path
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield WHEEL[:9].encode()
        yield WHEEL[9:].encode()

    async with make_app(database, tmp_path) as app:
        gate = await app.upload(GATE.encode(), filename="gate.md", external_id="gate", wait=False)
        assert (gate.path, gate.status) == (Path("gate.md"), "queued")
        edited = await app.upload(
            f"{GATE}It shuts at dusk.".encode(), filename="gate.md", external_id="gate", wait=False
        )
        wheel = await app.upload(pieces(), filename="wheel.md", wait=False)
        again = await app.upload(WHEEL.encode(), filename="copy.md", wait=False)
        assert edited.document_id == gate.document_id != wheel.document_id == again.document_id
        assert len((await app.documents.list()).items) == 2
        with pytest.raises(Refused, match="empty"):
            await app.upload(b"", filename="empty.md")
        with pytest.raises(NotFound, match="project"):
            await app.upload(GATE.encode(), filename="gate.md", project="no-such-project")


async def test_a_missing_path_is_refused_before_anything_is_accepted(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "gate.md").write_text(GATE)
    async with make_app(database, tmp_path) as app:
        with pytest.raises(InvalidArgument, match="no file or folder"):
            await app.ingest(tmp_path / "gate.md", tmp_path / "missing")
        with pytest.raises(InvalidArgument, match="no path"):
            await app.ingest()
        with pytest.raises(NotFound, match="elsewhere"):
            await app.ingest(tmp_path / "gate.md", project="elsewhere")
        with pytest.raises(NotFound, match="nobody"):
            await app.tenant("nobody").search("gate")
        with pytest.raises(InvalidArgument, match="limit") as refused:
            await app.search("gate", limit=0)
        assert (refused.value.field, refused.value.remedy) == ("limit", "Correct limit")
        assert not (await app.documents.list()).items


async def test_a_second_tenant_sees_only_its_own(database: Database, tmp_path: Path) -> None:
    (tmp_path / "gate.md").write_text(GATE)
    (tmp_path / "wheel.md").write_text(WHEEL)
    async with make_app(database, tmp_path) as app:
        await app.ingest(tmp_path / "gate.md", worker=True)
        async with operators(app.addresses, app.settings) as accounts:
            await accounts.create_tenant("other")
        other = app.tenant("other")
        await other.ingest(tmp_path / "wheel.md", worker=True)
        assert {hit.title for hit in await app.search("dawn or noon")} == {"The gate"}
        assert {hit.title for hit in await other.search("dawn or noon")} == {"The wheel"}


async def test_tasks_and_documents_share_one_app(database: Database, tmp_path: Path) -> None:
    app = make_app(database, tmp_path)
    done = asyncio.Event()

    @app.task()
    async def note(payload: dict[str, str]) -> None:
        done.set()

    async with app:
        assert not (await app.documents.list()).items
        await note.enqueue({"text": "hello"})
        await app.run_worker(stop_when_empty=True)
    assert done.is_set()


def test_a_script_needs_no_await(penstock: CommandLine) -> None:
    (penstock.folder / "gate.md").write_text(GATE)
    script = """
import json
from penstock import Penstock

with Penstock() as app:
    (file,) = app.ingest("gate.md", worker=True)
    hits = app.search("when does the gate open?")
    listed = app.documents.list().items
    print(json.dumps([file.status, [hit.title for hit in hits], len(listed), len(app.sources.list())]))
"""
    ended = penstock.python("-c", script, timeout=110)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == ["indexed", ["The gate"], 1, 0]


def test_an_app_without_documents_imports_no_part_of_them(penstock: CommandLine) -> None:
    script = """
import sys
from penstock import Penstock

app = Penstock()
heavy = ("penstock.pipeline", "penstock.documents", "penstock.search", "obstore", "httpx2")
print(*[name for name in heavy if name in sys.modules])
"""
    ended = penstock.python("-c", script)
    assert (ended.code, ended.out.strip()) == (0, ""), ended.err


def test_ctrl_c_in_a_script_lets_the_work_clean_up_first(penstock: CommandLine) -> None:
    script = """
import asyncio, os, signal
from penstock.engine.blocking import Loop

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.2)
        print("cleaned up", flush=True)

loop = Loop()
try:
    loop.run(work())
except KeyboardInterrupt:
    print("interrupted", flush=True)
loop.close()
"""
    ended = penstock.python("-c", script)
    assert (ended.code, ended.out.split("\n")) == (0, ["cleaned up", "interrupted", ""]), ended.err
