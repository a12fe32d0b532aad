"""Embedders by name, the list of models, and where installed ones live."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.embed.models_dir import models_dir
from penstock.embed.registry import known_models, make_embedder
from penstock.errors import EmbedderRefused, InvalidArgument
from penstock.settings import Settings


def test_an_embedder_is_found_by_name_and_by_model_id(tmp_path: Path) -> None:
    settings = Settings(models_dir=tmp_path)
    for name in ("wordllama", "wordllama-l2-supercat-256"):
        found = make_embedder(name, settings)
        assert (found.model, found.dimensions, found.max_tokens) == ("wordllama-l2-supercat-256", 256, 512)


async def test_a_remote_embedder_is_found_by_vendor() -> None:
    found = make_embedder("openai:text-embedding-3-small", Settings(openai_api_key="sk-test"))
    assert (found.model, found.is_remote) == ("openai:text-embedding-3-small", True)
    await found.close()


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidArgument, match=r"wordllama, minilm, brain, openai:") as refused:
        make_embedder("gpt", Settings())
    assert refused.value.field == "embedder"


def test_a_model_that_is_not_installed_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(EmbedderRefused, match="penstock model install minilm"):
        make_embedder("minilm", Settings(models_dir=tmp_path))


def test_the_list_says_what_is_ready_and_what_is_missing(tmp_path: Path) -> None:
    listed = {info.name: info for info in known_models(Settings(models_dir=tmp_path, cohere_api_key="key"))}
    assert listed["wordllama"].is_ready
    assert (listed["minilm"].is_ready, listed["minilm"].remedy) == (
        False,
        "Run: penstock model install minilm",
    )
    assert listed["cohere:embed-v4.0"].is_ready
    assert listed["brain"].remedy == "Set PENSTOCK_BRAIN_URL and PENSTOCK_BRAIN_API_SECRET"


def test_models_are_shared_by_all_checkouts_unless_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_dir(Settings()) == tmp_path / "penstock" / "models"
    assert models_dir(Settings(models_dir=tmp_path / "own")) == tmp_path / "own"
