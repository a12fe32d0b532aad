"""The tenant `default` is created by the first use of an empty installation, and by nothing else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.db.embedded.server import EmbeddedServer
from penstock.testing.shared_server import SETTINGS
from tests.plugins.command_line import CommandLine
from tests.plugins.prepared_cluster import PutCluster

MISTAKES = {
    "a kind that is not there": "source add folders .",
    "a folder that is not there": "source add folder nowhere",
    "a source's project": "source add folder . --project nope",
    "a mailbox without a server": "source add imap --user me@example.com",
    "a provider that is not there": "source connect hubspots",
    "a folder cannot be connected": "source connect folder",
    "a slug": "project create Nope!",
    "a language": "project create nope --text-config klingon",
    "a strategy": "project create nope --chunk-strategy none",
    "a model": "project create nope --embedder none",
    "a file that is not there": "ingest nowhere.txt",
    "a project that is not there": "ingest . --project nope",
}


@pytest.fixture
def embedded(put_cluster: PutCluster) -> Iterator[CommandLine]:
    """penstock with a server of its own, which runs, and without a tenant."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-default-"))
    folder.chmod(0o755)
    put_cluster(folder / "data")
    EmbeddedServer(folder / "data", SETTINGS).start()
    (folder / "note.txt").write_text("The sluice opens at dawn.")
    yield CommandLine(folder, {"PENSTOCK_DATA_DIR": "data"})
    EmbeddedServer(folder / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


def tenants(penstock: CommandLine) -> list[str]:
    return [each["slug"] for each in penstock("tenant", "list", "--json").json["tenants"]]


@pytest.mark.parametrize("words", MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_argument_creates_no_tenant(penstock: CommandLine, words: str) -> None:
    (penstock.folder / "note.txt").write_text("The sluice opens at dawn.")
    secret = penstock.with_variables(PENSTOCK_SOURCE_PASSWORD="x")
    assert secret(*words.split(), given="x\n").code != 0
    assert tenants(penstock) == []


def test_on_the_embedded_server_other_tenants_are_enough(embedded: CommandLine) -> None:
    assert embedded("tenant", "create", "acme").code == 0
    for words in ("project create papers", "source add folder . --no-wait", "ingest note.txt --no-wait"):
        refused = embedded(*words.split())
        assert refused.code == 1, refused.err
        assert "default" in refused.err
    assert tenants(embedded) == ["acme"]


def test_the_first_use_of_an_empty_installation_creates_it(embedded: CommandLine) -> None:
    assert embedded("project", "create", "papers").code == 0
    assert tenants(embedded) == ["default"]
