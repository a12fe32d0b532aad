"""penstock backup and restore: everything together, complete or not at all, on an empty machine too."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import boto3  # type: ignore[import-untyped]  # it has no stubs
import pytest

from penstock.backup.writing import back_up_all
from penstock.cli.tenant_session import tenant_session
from penstock.db.addresses import resolve
from penstock.db.embedded.server import EmbeddedServer
from penstock.settings import Settings
from penstock.testing.shared_server import SETTINGS
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.prepared_cluster import PutCluster

pytestmark = pytest.mark.timeout(300)  # a dozen commands each, on servers of their own

TEXT = "The supplier pays a penalty of two percent when the delivery of the turbine is late."
SECRET = b"the tenant's own secret"


@pytest.fixture
def machine(put_cluster: PutCluster, put_empty_cluster: PutCluster) -> Iterator[Callable[[str], CommandLine]]:
    """Machines by name, each with a data directory and an embedded server of its own.

    The database of `old` has been migrated, that of `new` is empty, and `empty` has none yet. The server of
    `old` runs until the end: a start and a stop for each command take more than the commands.
    """
    folder = Path(tempfile.mkdtemp(prefix="penstock-backup-"))
    folder.chmod(0o755)
    made: set[str] = set()

    def of(name: str) -> CommandLine:
        made.add(name)
        (folder / name).mkdir()
        if name != "empty":
            (put_cluster if name == "old" else put_empty_cluster)(folder / name / "data")
        if name == "old":
            EmbeddedServer(folder / name / "data", SETTINGS).start()
        return CommandLine(folder, {"PENSTOCK_DATA_DIR": str(folder / name / "data")})

    yield of
    for name in made:
        EmbeddedServer(folder / name / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


def data_dir(penstock: CommandLine) -> Path:
    return Path(penstock.variables["PENSTOCK_DATA_DIR"])


def settings(penstock: CommandLine) -> Settings:
    return Settings(_env_file=None, data_dir=data_dir(penstock))


async def put_secret(penstock: CommandLine) -> UUID:
    async with tenant_session(settings(penstock)) as session:
        owner = await session.tenant("default")
        async with session.engine.tenants.transaction(owner) as conn:
            return await session.engine.secrets.put(conn, owner, "token", SECRET)


async def get_secret(penstock: CommandLine, secret_id: UUID) -> bytes:
    async with tenant_session(settings(penstock)) as session:
        owner = await session.tenant("default")
        async with session.engine.tenants.transaction(owner) as conn:
            return await session.engine.secrets.get(conn, owner, secret_id)


def ingest(penstock: CommandLine, count: int, *, wait: bool = True) -> None:
    files = penstock.folder / "files"
    files.mkdir(exist_ok=True)
    for number in range(count):
        (files / f"{number:03}.txt").write_text(f"Contract {number}. {TEXT}")
    ended = penstock("ingest", str(files), *([] if wait else ["--no-wait"]), timeout=200)
    assert ended.code == 0, ended.err


def originals(penstock: CommandLine) -> dict[str, bytes]:
    """What the store lists: a killed process leaves its half-written file as NAME#1, which no list shows."""
    root = data_dir(penstock) / "blobs"
    files = (file for file in root.rglob("*") if file.is_file() and "#" not in file.name)
    return {str(file.relative_to(root)): file.read_bytes() for file in files}


async def test_an_empty_machine_gets_everything_back(machine: Callable[[str], CommandLine]) -> None:
    old, new = machine("old"), machine("empty")
    ingest(old, 3)
    secret_id = await put_secret(old)
    old("db", "psql", "--", "-qc", "select queues.enqueue('email', '{\"to\": 1}')")
    listed = old("document", "list", "--json").json["documents"]
    made = old("backup", "whole.tar.gz", "--json")
    assert made.code == 0, made.err
    assert (made.json["blob_count"], made.json["vault_key"], made.json["missing"]) == (3, True, [])
    assert (old.folder / "whole.tar.gz").stat().st_mode & 0o077 == 0

    would = new("restore", "whole.tar.gz", "--dry-run", "--json").json
    assert (would["count"], would["blobs"]) == (0, 3)
    assert not data_dir(new).exists(), "a dry run creates no database"

    restored = new("restore", "whole.tar.gz")
    assert (restored.code, restored.err) == (0, "")
    again = new("document", "list", "--json").json["documents"]
    assert [row["document_id"] for row in again] == [row["document_id"] for row in listed]
    assert "penalty of two percent" in new("search", "who pays when the turbine is late?", "--json").out
    assert originals(new) == originals(old)
    assert TEXT in new("document", "get", listed[0]["document_id"]).out
    assert await get_secret(new, secret_id) == SECRET
    tasks = new("task", "list", "--state", "ready", "--json").json["tasks"]
    assert "email" in [task["task_type"] for task in tasks]


@pytest.mark.parametrize("name", ["folder", "archive.tar"])
def test_existing_data_is_replaced_only_with_force(machine: Callable[[str], CommandLine], name: str) -> None:
    old = machine("old")
    ingest(old, 2, wait=False)
    assert old("backup", name).code == 0
    assert [path for path in (old.folder / name).rglob("*") if path.stat().st_mode & 0o077] == []
    assert old("restore", name, "--check").code == 0
    refused = old("restore", name, "--json")
    assert (refused.code, refused.error["field"]) == (1, "database")
    assert "--force" in refused.error["remedy"]
    before = old("document", "list", "--json").json["documents"]
    unasked = old("restore", name, "--force")
    assert (unasked.code, "replace 2 documents of 1 tenant" in unasked.err) == (1, True), unasked.err
    would = old("restore", name, "--force", "--dry-run", "--json").json
    assert (would["dry_run"], would["count"], would["tenants"], would["blobs"]) == (True, 2, 1, 2)
    assert old("restore", name, "--dry-run", "--json").error["field"] == "database"
    assert old("document", "list", "--json").json["documents"] == before
    forced = old("restore", name, "--force", "--yes")
    assert (forced.code, forced.err) == (0, "")
    assert old("document", "list", "--json").json["documents"] == before


async def test_without_the_key_it_says_so_and_the_key_can_follow(
    machine: Callable[[str], CommandLine],
) -> None:
    old, new = machine("old"), machine("new")
    ingest(old, 1, wait=False)
    secret_id = await put_secret(old)
    ended = old("backup", "keyless", "--without-key")
    assert "does not contain the vault key" in ended.err
    assert not (old.folder / "keyless" / "vault.key").exists()
    assert "contains the vault key" in old("backup", "keyed").err
    restored = new("restore", "keyless")
    assert restored.code == 0
    assert "cannot be decrypted" in restored.err
    shutil.copy2(data_dir(old) / "vault.key", data_dir(new) / "vault.key")
    assert await get_secret(new, secret_id) == SECRET


def test_a_damaged_backup_or_another_file_is_refused_before_anything_changes(
    machine: Callable[[str], CommandLine],
) -> None:
    old, new = machine("old"), machine("new")
    ingest(old, 2, wait=False)
    assert old("backup", "good").code == 0
    folder = old.folder / "good"
    blob = next(file for file in (folder / "blobs").rglob("*") if file.is_file())
    content = blob.read_bytes()
    blob.write_bytes(content[:-1] + b"!")
    assert "is damaged" in new("restore", "good").err
    blob.write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"schema_version": 9_999}))
    assert new("restore", "good").code == 3
    (folder / "manifest.json").unlink()
    assert "not a complete backup" in new("restore", "good").err
    with tarfile.open(old.folder / "evil.tar", "w") as archive:
        archive.add(blob, "blobs/../../../stolen")
    assert "does not belong in a backup" in new("restore", "evil.tar").err
    (old.folder / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00 half")
    assert new("restore", "cut.tar.gz").code == 1
    assert not (data_dir(new) / "blobs").exists()
    assert not (data_dir(new) / "vault.key").exists()


def test_a_backup_replaces_nothing_without_force(machine: Callable[[str], CommandLine]) -> None:
    old = machine("old")
    mine = old.folder / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("precious")
    assert old("backup", "mine", "--force").code == 1
    assert (mine / "letter.txt").read_text() == "precious"
    assert old("backup", "kept").code == 0
    assert old("backup", "kept").code == 1
    assert old("backup", "kept", "--force").code == 0
    left = sorted(entry.name for entry in old.folder.iterdir() if entry.name.startswith("."))
    assert left == []


async def test_an_original_deleted_while_the_backup_runs_is_left_out_and_not_missed(
    database: Database, tmp_path: Path
) -> None:
    """The dump still has its document; a restore of it would only lack what was deleted anyway."""
    async with works_on(database, tmp_path / "data") as works:
        taken = [await works.hand_in(f"Contract {number}. {TEXT}", f"{number}.txt") for number in range(3)]
        paths: list[str] = await works.value("select array_agg(blob_path order by file_id) from files.file")
        deleted, lost, kept = paths
        assert len(taken) == 3
        steps: list[str] = []

        async def delete() -> None:
            async with database.connect("admin", name="deleting") as admin:
                await admin.execute("update files.file set deleted_at = now() where blob_path = $1", deleted)

        def progress(step: str, done: int, of: int | None) -> None:
            if step == "originals" and step not in steps:  # the dump is written, no original is copied yet
                deleting = threading.Thread(target=lambda: asyncio.run(delete()))
                deleting.start()
                deleting.join(30)
                for path in (deleted, lost):
                    (tmp_path / "data" / "blobs" / path).unlink()
            steps.append(step)

        settings = works.engine.settings
        manifest = await back_up_all(
            resolve(settings), settings, tmp_path / "backup", with_key=False, force=False, progress=progress
        )
    assert "originals" in steps
    assert (manifest.gone, manifest.missing, manifest.blob_count) == ((deleted,), (lost,), 1)
    assert (tmp_path / "backup" / "blobs" / kept).is_file()


def test_a_lost_original_is_reported(
    machine: Callable[[str], CommandLine],
) -> None:
    old = machine("old")
    ingest(old, 2, wait=False)
    lost = next(file for file in (data_dir(old) / "blobs").rglob("*") if file.is_file())
    lost.unlink()
    ended = old("backup", "some", "--json")
    assert ended.code == 1
    assert ended.json["missing"] == [str(lost.relative_to(data_dir(old) / "blobs"))]
    assert ended.json["blob_count"] == 1


def count_files(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def kill_when(process: subprocess.Popen[str], begun: Callable[[], bool]) -> None:
    """SIGKILL the command as soon as a condition holds, or see it end."""
    os.setpriority(os.PRIO_PROCESS, process.pid, 19)  # or on a busy machine it may be over before we look
    while process.poll() is None and not begun():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait(30)


async def test_a_kill_in_the_middle_leaves_no_partial_backup_and_no_partial_restore(
    machine: Callable[[str], CommandLine],
) -> None:
    old, new = machine("old"), machine("new")
    ingest(old, 100, wait=False)
    secret_id = await put_secret(old)
    partial = old.folder / ".cut.partial"
    with old.running("backup", "cut") as process:
        kill_when(process, lambda: count_files(partial / "blobs") > 5)
    assert not (old.folder / "cut").exists()
    assert "not a complete backup" in new("restore", str(partial)).err
    assert old("backup", "cut").code == 0
    assert not partial.exists()

    blobs = data_dir(new) / "blobs"
    with new.running("restore", "cut") as process:
        kill_when(process, lambda: count_files(blobs) > 5)
    assert new("tenant", "list", "--json").json["tenants"] == []  # a look, which migrates the empty database
    if len(originals(new)) == 100:
        pytest.fail("the restore was over before it was killed")
    ended = new("restore", "cut")
    assert ended.code == 0, ended.err
    assert originals(new) == originals(old)
    assert len(new("document", "list", "--json", "--limit", "200").json["documents"]) == 100
    assert await get_secret(new, secret_id) == SECRET


def test_a_kill_while_the_database_is_filled_leaves_the_old_one(
    machine: Callable[[str], CommandLine],
) -> None:
    """--force drops and fills in one transaction."""
    old = machine("old")
    ingest(old, 5, wait=False)
    assert old("backup", "cut").code == 0
    before = old("document", "list", "--json").json["documents"]
    with old.running("restore", "cut", "--force", "--yes") as process:
        kill_when(process, lambda: "psql" in _children(process.pid))
    assert old("document", "list", "--json").json["documents"] == before
    assert old("restore", "cut", "--force", "--yes").code == 0
    assert old("document", "list", "--json").json["documents"] == before


def _children(pid: int) -> str:
    names = []
    for task in Path("/proc", str(pid), "task").glob("*/children"):
        try:
            names += [Path("/proc", child, "comm").read_text() for child in task.read_text().split()]
        except OSError:
            continue
    return " ".join(names)


def test_a_bucket_is_listed_and_compared(machine: Callable[[str], CommandLine], bucket: str) -> None:
    variables = {
        "PENSTOCK_BLOB_URL": "s3://originals/acme",
        "PENSTOCK_S3_ENDPOINT": bucket,
        "AWS_ACCESS_KEY_ID": "simulated",
        "AWS_SECRET_ACCESS_KEY": "simulated",
        "AWS_REGION": "us-east-1",
    }
    old, new = machine("old").with_variables(**variables), machine("new").with_variables(**variables)
    ingest(old, 2, wait=False)
    made = old("backup", "listed", "--json").json
    assert (made["blobs"], made["blob_count"], made["blob_store"]) == ("listed", 2, "s3://originals/acme")
    assert not (old.folder / "listed" / "blobs").exists()

    store = boto3.client("s3", endpoint_url=bucket, region_name="us-east-1")
    key = store.list_objects_v2(Bucket="originals")["Contents"][0]["Key"]
    content = store.get_object(Bucket="originals", Key=key)["Body"].read()
    store.put_object(Bucket="originals", Key=key, Body=b"x" * len(content))
    changed = new("restore", "listed")
    assert changed.code == 1
    assert "1 of 2 originals" in changed.err
    store.put_object(Bucket="originals", Key=key, Body=content)
    assert new("restore", "listed").code == 0
    documents = new("document", "list", "--json").json["documents"]
    assert TEXT in new("document", "get", documents[0]["document_id"]).out
