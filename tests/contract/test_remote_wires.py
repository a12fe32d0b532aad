"""What is specific to one vendor's format, to the brain's model, and to the fallback address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from penstock.embed.registry import check_fallback
from penstock.embed.remote import RemoteEmbedder, openai
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderUnavailable, SettingInvalid
from penstock.simulators import EmbeddingsSimulator, Fault, busy, serving
from penstock.simulators.embeddings import KEY
from tests.contract.test_remote_embedders import TEXTS, remote, settings


async def test_openai_is_asked_for_base64_and_its_dimensions() -> None:
    async with remote("openai") as (embedder, simulator):
        await embedder.embed(TEXTS, "query")
        assert simulator.bodies == [
            {
                "model": "text-embedding-3-small",
                "input": TEXTS,
                "encoding_format": "base64",
                "dimensions": 1_536,
            }
        ]


async def test_a_users_own_model_is_not_sent_dimensions_and_needs_no_key() -> None:
    async with remote("openai:some-model", openai_api_key=None) as (embedder, simulator):
        simulator.key = ""
        await embedder.embed(TEXTS)
        assert "dimensions" not in simulator.bodies[0]


async def test_cohere_is_told_what_the_text_is_for_and_cuts_nothing() -> None:
    async with remote("cohere") as (embedder, simulator):
        await embedder.embed(TEXTS, "document")
        await embedder.embed(TEXTS, "query")
        assert [body["input_type"] for body in simulator.bodies] == ["search_document", "search_query"]
        assert simulator.bodies[0]["output_dimension"] == 1_024
        assert simulator.bodies[0]["embedding_types"] == ["float"]
        assert simulator.bodies[0]["truncate"] == "NONE"


async def test_voyage_is_told_what_the_text_is_for_and_cuts_nothing() -> None:
    async with remote("voyage") as (embedder, simulator):
        await embedder.embed(TEXTS, "document")
        await embedder.embed(TEXTS, "query")
        assert [body["input_type"] for body in simulator.bodies] == ["document", "query"]
        assert simulator.bodies[0]["truncation"] is False


@pytest.mark.parametrize(
    ("name", "asked", "size"), [("cohere", 500, 96), ("voyage", 10, 10), ("brain", 7, 7)]
)
async def test_the_batch_size_of_the_settings_holds_up_to_the_vendors_own(
    name: str, asked: int, size: int
) -> None:
    async with remote(name, embedding_batch_size=asked) as (embedder, _):
        assert embedder.batch_size == size


async def test_the_brains_model_is_unknown_until_it_answers_and_then_holds() -> None:
    async with remote("brain") as (embedder, simulator):
        with pytest.raises(EmbedderFailed, match="not known yet"):
            _ = embedder.model
        simulator.faults.add(busy())
        with pytest.raises(EmbedderBusy):
            await embedder.learn()
        await embedder.learn()
        await embedder.learn()
        assert simulator.calls == 2
        simulator.brain_model = "text-embedding-3-large"
        with pytest.raises(EmbedderFailed, match="text-embedding-3-large"):
            await embedder.embed(TEXTS)
        assert embedder.model == "brain:text-embedding-3-small"


async def test_a_brain_pinned_by_name_must_answer_with_that_model_from_the_start() -> None:
    async with remote("brain:voyage-3-lite") as (embedder, _):
        assert embedder.model == "brain:voyage-3-lite"
        with pytest.raises(EmbedderFailed, match="text-embedding-3-small"):
            await embedder.embed(TEXTS)


async def test_a_served_version_is_the_model_and_a_longer_name_is_not() -> None:
    async with remote("brain:text-embedding-3") as (embedder, simulator):
        simulator.brain_model = "text-embedding-3-v2"
        await embedder.embed(TEXTS)
        assert embedder.model == "brain:text-embedding-3"
        simulator.brain_model = "text-embedding-3-small"
        with pytest.raises(EmbedderFailed):
            await embedder.embed(TEXTS)


@asynccontextmanager
async def with_fallback(
    name: str, model: str = "text-embedding-3-small"
) -> AsyncIterator[tuple[RemoteEmbedder, EmbeddingsSimulator, EmbeddingsSimulator]]:
    second = EmbeddingsSimulator(brain_model=model)
    async with serving(second.app) as address:
        fallback = f"{address}/v1" if name.startswith("openai") else address
        async with remote(name, embedder=name, embedding_fallback_url=fallback) as (embedder, first):
            yield embedder, first, second


@pytest.mark.parametrize("name", ["brain", "openai", "cohere", "voyage"])
@pytest.mark.parametrize("fault", [Fault("status", 503), busy("60"), Fault("disconnect")])
async def test_the_fallback_serves_the_same_model_while_the_first_cannot(name: str, fault: Fault) -> None:
    async with with_fallback(name) as (embedder, first, second):
        expected = await embedder.embed(TEXTS)
        first.faults.add(fault)
        assert (await embedder.embed(TEXTS)).vectors == expected.vectors
        assert (first.calls, second.calls) == (2, 1)
        await embedder.embed(TEXTS)
        assert second.calls == 1


async def test_the_second_address_of_one_vendor_never_gets_the_key_or_texts_of_another() -> None:
    mirror = EmbeddingsSimulator()
    async with serving(mirror.app) as address:
        cohere = "cohere:embed-v4.0"
        async with remote("openai", embedder=cohere, embedding_fallback_url=f"{address}/v1") as (
            embedder,
            first,
        ):
            first.faults.add(Fault("status", 503))
            with pytest.raises(EmbedderUnavailable):
                await embedder.embed(TEXTS)
        assert mirror.calls == 0
        async with remote("cohere", embedder=cohere, embedding_fallback_url=address) as (embedder, first):
            first.faults.add(Fault("status", 503))
            await embedder.embed(TEXTS)
        assert mirror.calls == 1


async def test_beside_a_local_model_a_second_address_belongs_to_the_only_vendor_that_is_configured() -> None:
    mirror = EmbeddingsSimulator()
    async with serving(mirror.app) as address:
        only: dict[str, Any] = {
            "brain_url": None,
            "openai_base_url": openai.DEFAULT_URL,
            "openai_api_key": None,
            "voyage_api_key": None,
            "embedding_fallback_url": address,
        }
        async with remote("cohere", **only) as (embedder, first):
            first.faults.add(Fault("status", 503))
            await embedder.embed(TEXTS)
        assert mirror.calls == 1
        check_fallback(settings(address, **only))
        with pytest.raises(SettingInvalid) as refused:
            check_fallback(settings(address, **{**only, "openai_api_key": KEY}))
    assert refused.value.variable == "PENSTOCK_EMBEDDING_FALLBACK_URL"
    assert "PENSTOCK_EMBEDDER " in str(refused.value)
    assert "openai, cohere" in str(refused.value)


async def test_a_fallback_with_another_model_is_not_used_and_the_batch_waits() -> None:
    async with with_fallback("brain", "text-embedding-3-large") as (embedder, first, second):
        await embedder.learn()
        first.faults.add(busy("42"))
        with pytest.raises(EmbedderBusy) as told:
            await embedder.embed(TEXTS)
        assert (told.value.retry_after, second.calls) == (42.0, 1)


async def test_a_fallback_is_not_asked_before_the_model_is_known() -> None:
    async with with_fallback("brain") as (embedder, first, second):
        first.faults.add(Fault("status", 503))
        with pytest.raises(EmbedderFailed):
            await embedder.embed(TEXTS)
        assert second.calls == 0


async def test_a_failing_fallback_leaves_the_first_ones_answer() -> None:
    async with with_fallback("openai") as (embedder, first, second):
        first.faults.add(busy("9"))
        second.faults.add(Fault("status", 401))
        with pytest.raises(EmbedderBusy) as told:
            await embedder.embed(TEXTS)
        assert told.value.retry_after == 9.0


async def test_no_secret_and_no_text_is_in_the_repr_of_an_embedders_parts() -> None:
    from penstock.embed.remote.brain import BrainWire

    wire = BrainWire(KEY)
    assert KEY not in repr(wire)
    assert KEY not in repr(wire.call(TEXTS, "document"))
    assert TEXTS[0] not in repr(wire.call(TEXTS, "document"))
    assert settings("http://127.0.0.1:1").brain_api_secret == KEY
