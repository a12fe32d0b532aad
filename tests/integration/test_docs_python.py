"""The programs in the Python reference run and print what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.api_server import api_server
from tests.plugins.command_line import addresses
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(180)

PAGE = Path(__file__).parents[2] / "docs/reference/python.md"


def program(name: str) -> Any:
    """The function `main` of the example of this name."""
    found = re.search(
        rf"^```python\n# example: {name}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found is not None, f"docs/reference/python.md has no example {name}"
    names: dict[str, Any] = {}
    exec(compile(found[1], f"{PAGE.name}:{name}", "exec"), names)  # noqa: S102  # our own page
    return names["main"]


async def test_the_client_in_the_reference_uploads_and_searches(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with api_server(database, tmp_path) as server, server.working():
        await program("client")(server.url, server.key)
    assert_it_found_the_gate(capsys.readouterr().out)


async def test_the_upload_in_the_reference_is_indexed_and_found(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api_server(database, tmp_path) as server:
        slug = server.tenant.slug
    for name, value in addresses(database).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PENSTOCK_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    await program("upload")(slug)
    assert_it_found_the_gate(capsys.readouterr().out)


def assert_it_found_the_gate(printed: str) -> None:
    status, *hits = printed.splitlines()
    assert status == "indexed"
    assert "The sluice gate opens at dawn." in "\n".join(hits)
