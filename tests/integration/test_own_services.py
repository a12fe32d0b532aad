"""The examples of an embedder and a parser of your own serve Penstock as their guides say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.demo import files as demo_files
from penstock.embed.registry import make_embedder
from penstock.model import media
from penstock.pipeline.parser_pool import ParserPool
from penstock.settings import Settings
from penstock.simulators import serving

if TYPE_CHECKING:
    from types import ModuleType

    import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "own_services"
SECRET = "a-long-random-text"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"own_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_example_of_an_embedder_embeds_for_penstock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_BRAIN_API_SECRET", SECRET)
    async with serving(loaded("embedder").app) as url:
        settings = Settings.model_validate(
            {"brain_url": url, "brain_api_secret": SECRET, "allow_private_addresses": True}
        )
        embedder = make_embedder("brain", settings)
        try:
            embedded = await embedder.embed(["the mill", "the penstock"])
        finally:
            await embedder.close()
    assert [len(vector) for vector in embedded.vectors] == [128, 128]
    assert (embedder.model, embedder.dimensions) == ("brain:letters-v1", 64)


async def test_the_example_of_a_parser_parses_for_penstock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = loaded("parser")
    monkeypatch.setattr(example, "to_markdown", lambda content: ["# Head", f"{len(content)} bytes"])
    stored = tmp_path / "stored.bin"
    stored.write_bytes(demo_files.pdf("R", [["# Report"]]))
    async with serving(example.app) as url:
        pool = ParserPool(
            Settings.model_validate({"parse_processes": 1, "docling_url": url, "docling_auto": True})
        )
        await pool.start()
        try:
            parsed = await pool.parse(stored, mime_type=media.PDF, filename="r.pdf")
        finally:
            await pool.close()
    assert (parsed.parser, parsed.page_count, parsed.title) == ("docling", 2, "Head")
    assert f"{stored.stat().st_size} bytes" in parsed.text
