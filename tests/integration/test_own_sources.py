"""Sources of the user's own: found by entry point, checked, and synced like Penstock's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.errors import EntryPointFailed, InvalidArgument, NotFound
from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.sources.protocol import OpenSource
from penstock.sources.registry import Providers
from penstock.testing import SourceUnderTest, check_source
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.scripted_source import settled

GOOD = """
from contextlib import asynccontextmanager

from penstock.sources.mapping.mapped import Mapped
from penstock.sources.protocol import Checkpoint, Item


class NoteMap:
    document_type = "diary.note"
    version = 1

    def apply(self, external_id, payload):
        return Mapped(title=payload["title"], text=payload["text"])


class Diary:
    kind = "diary"
    title = "Diary"
    maps = {"diary.note": NoteMap()}

    def oauth(self, settings):
        return None

    def check_config(self, config):
        return {}

    @asynccontextmanager
    async def open(self, source):
        yield Reader()


class Reader:
    streams = ("notes",)

    async def read(self, stream, cursor):
        for number in range(0 if cursor.is_resumed else 3):
            payload = {"title": f"Day {number}", "text": f"On day {number} the gate was opened."}
            yield Item(id=str(number), document_type="diary.note", payload=payload, version="1")
        yield Checkpoint(cursor={"read": True}, done=True, is_complete=True)
"""
BAD = {
    "1 / 0": "division by zero",
    "Other = 1": "has no attribute 'Diary'",
    "Diary = 1": "int has no check_config",
    GOOD.replace('kind = "diary"', 'kind = "journal"'): "its kind is 'journal'",
    GOOD.replace('title = "Diary"', 'title = ""'): "its title is not a text",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a package that offers the source `diary`."""
    folder = tmp_path / "site"
    offer(folder, "diary")
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("diary_source", None)


def offer(site: Path, name: str, package: str = "diary-package") -> None:
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[penstock.sources]\n{name} = diary_source:Diary\n")
    (site / "diary_source.py").write_text(GOOD)


async def test_an_installed_package_offers_a_source_that_passes_the_checks(site: Path) -> None:
    settings = Settings(_env_file=None)
    providers = Providers(settings)
    assert "diary" in providers.kinds
    assert "diary_source" not in sys.modules, "it is imported when it is needed"
    source = OpenSource(TenantId(uuid4()), SourceId(uuid4()), "diary", None, {}, settings)
    await check_source(SourceUnderTest(provider=providers.get("diary"), source=source))


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_provider_that_cannot_be_used_is_reported_with_its_package(site: Path, text: str) -> None:
    (site / "diary_source.py").write_text(f"{text}\n")
    with pytest.raises(EntryPointFailed) as refused:
        Providers(Settings(_env_file=None)).get("diary")
    assert BAD[text] in str(refused.value)
    assert (refused.value.name, refused.value.package) == ("diary", "diary-package")


def test_a_taken_or_invalid_kind_is_refused_and_an_unknown_one_names_the_others(site: Path) -> None:
    with pytest.raises(NotFound) as unknown:
        Providers(Settings(_env_file=None)).get("salesforce")
    assert "diary" in unknown.value.remedy
    assert "hubspot" in unknown.value.remedy
    with pytest.raises(InvalidArgument) as granted:
        Providers(Settings(_env_file=None)).addable("hubspot")
    assert "penstock source connect hubspot" in granted.value.remedy
    offer(site, "hubspot", "other-package")
    with pytest.raises(EntryPointFailed, match="another provider of the kind hubspot"):
        Providers(Settings(_env_file=None)).get("diary")


async def test_a_source_of_ones_own_is_added_and_synced(
    database: Database, tmp_path: Path, site: Path
) -> None:
    async with works_on(database, tmp_path / "data") as works:
        assert await works.value("select title from internal.source_kind where kind = 'diary'") == "Diary"
        async with works.working():
            source = await works.engine.sources.add(works.tenant_id, "diary", {})
            job = await settled(works, source.source_id)
            assert (job["status"], job["items_written"]) == ("completed", 3)
            (hit, *_) = await works.find("day 2", mode="text", limit=1)
            assert "the gate was opened" in hit.text
