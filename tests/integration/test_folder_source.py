"""A folder as a source: files appear, change, move and go, and search follows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.errors import Conflict, InvalidArgument
from penstock.sources.folder.files import FoundFile, find_files
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.scripted_source import settled, synced
from tests.plugins.workers import eventually


async def paths(works: Works) -> set[str]:
    found = await works.value(
        "select array_agg(path) from ingest.document where deleted_at is null and status = 'indexed'"
    )
    return set(found or ())


async def indexed(works: Works) -> None:
    """Wait until the queue has indexed what the sync took in."""
    for document_id in await works.value(
        "select array_agg(document_id) from ingest.document where deleted_at is null"
    ):
        await works.settled(document_id)


async def test_files_that_change_move_and_go_are_followed(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.md").write_text("# One\n\nThe first paper is about sluices.")
    (folder / "deep" / "two.txt").write_text("The second paper is about spillways.")
    (folder / ".hidden").write_text("Nobody should find this.")
    (folder / "empty.txt").write_text("")
    (folder / "link.txt").symlink_to("/etc/hostname")
    async with works_on(database, tmp_path / "data") as works, works.working():
        added = await works.engine.sources.add(works.tenant_id, "folder", {"path": str(folder)})
        job = await settled(works, added.source_id)
        assert (job["items_written"], job["items_failed"]) == (2, 1)
        await indexed(works)
        assert await paths(works) == {"one.md", "deep/two.txt"}

        os.rename(folder / "deep" / "two.txt", folder / "two.txt")
        (folder / "one.md").write_text("# One\n\nThe first paper is about fish ladders now.")
        job = await synced(works, added.source_id)
        assert (job["items_written"], job["items_removed"]) == (2, 1)
        await indexed(works)
        assert await paths(works) == {"one.md", "two.txt"}
        (hit, *_) = await works.find("fish ladders", mode="text", limit=1)
        assert hit.path == "one.md"

        (folder / "two.txt").unlink()
        assert (await synced(works, added.source_id))["items_removed"] == 1
        assert await paths(works) == {"one.md"}
        job = await synced(works, added.source_id)
        assert (job["items_written"], job["items_unchanged"]) == (0, 1)

        shown = await works.engine.sources.show(works.tenant_id, added.source_id)
        assert (shown.health.state, shown.documents) == ("healthy", 1)
        assert shown.streams[0].items == 1

        os.rename(folder, tmp_path / "away")
        await works.engine.sources.sync(works.tenant_id, added.source_id)

        async def is_retrying() -> bool:
            found = await works.engine.sources.show(works.tenant_id, added.source_id)
            return found.health.state == "retrying" and "is not there" in (found.health.reason or "")

        await eventually(is_retrying)
        assert await paths(works) == {"one.md"}, "a folder that is not mounted was not emptied"


async def test_a_folder_that_cannot_be_read_is_refused_with_its_path(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path / "data") as works:
        for wrong in (str(tmp_path / "missing"), "relative", 7):
            with pytest.raises(InvalidArgument) as refused:
                await works.engine.sources.add(works.tenant_id, "folder", {"path": wrong})
            assert refused.value.field == "path"
        await works.engine.sources.add(works.tenant_id, "folder", {"path": str(tmp_path)})
        with pytest.raises(Conflict):
            await works.engine.sources.add(works.tenant_id, "folder", {"path": str(tmp_path)})


def test_a_listing_goes_on_after_any_file(tmp_path: Path) -> None:
    for name in ("a", "a.b/c", "a.b/d/e", "a.b/d.e", "b", "b-c/d", "b0"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    every = [found.path for found in find_files(tmp_path, None) if isinstance(found, FoundFile)]
    assert sorted(every) == sorted(["a", "a.b/c", "a.b/d/e", "a.b/d.e", "b", "b-c/d", "b0"])
    for number, after in enumerate(every):
        left = [found.path for found in find_files(tmp_path, after) if isinstance(found, FoundFile)]
        assert left == every[number + 1 :]
