"""Every remote embedder keeps the same contract, against a simulator that speaks the vendors' formats."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from penstock.embed.remote import RemoteEmbedder, make_remote
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused
from penstock.model.embedder import Embedder
from penstock.settings import Settings
from penstock.simulators import EmbeddingsSimulator, Fault, busy, serving
from penstock.simulators.embeddings import KEY
from penstock.simulators.vectors import vector

TEXTS = ["the mill takes water", "a gate", "Wasser für die Mühle"]


@dataclass(frozen=True, slots=True)
class Vendor:
    """One embedder under the contract, and what it is known by."""

    name: str
    model: str
    dimensions: int
    batch_size: int
    names_its_model: bool = True
    names_the_order: bool = True


VENDORS = [
    Vendor("brain", "brain:text-embedding-3-small", 1_536, 32, names_the_order=False),
    Vendor("openai", "openai:text-embedding-3-small", 1_536, 128),
    Vendor("openai:some-model", "openai:some-model", 64, 128),
    Vendor("cohere", "cohere:embed-v4.0", 1_024, 96, names_its_model=False, names_the_order=False),
    Vendor("voyage", "voyage:voyage-3.5-lite", 1_024, 128),
]
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


def settings(address: str, **changes: object) -> Settings:
    values: dict[str, object] = {
        "brain_url": address,
        "brain_api_secret": KEY,
        "openai_api_key": KEY,
        "openai_base_url": f"{address}/v1",
        "cohere_api_key": KEY,
        "cohere_base_url": address,
        "voyage_api_key": KEY,
        "voyage_base_url": f"{address}/",
    }
    return Settings(_env_file=None, **{**values, **changes})


@asynccontextmanager
async def remote(
    name: str, *, call_seconds: float = 20, **changes: object
) -> AsyncIterator[tuple[RemoteEmbedder, EmbeddingsSimulator]]:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as address:
        embedder = make_remote(name, settings(address, **changes), call_seconds=call_seconds)
        try:
            yield embedder, simulator
        finally:
            await embedder.close()


@every_vendor
async def test_vectors_come_in_order_of_length_one_as_half_floats(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        embedded = await embedder.embed(TEXTS)
        assert len(embedded.vectors) == len(TEXTS)
        for text, made in zip(TEXTS, embedded.vectors, strict=True):
            whole = np.frombuffer(made, dtype="<f2").astype(np.float64)
            asked = vector(vendor.model.partition(":")[2], text, vendor.dimensions).astype(np.float64)
            assert whole.shape == (vendor.dimensions,)
            assert np.linalg.norm(whole) == pytest.approx(1, abs=2e-3)
            assert whole @ asked / np.linalg.norm(asked) == pytest.approx(1, abs=2e-3)
        assert embedded.tokens > 0
        assert (simulator.calls, simulator.texts) == (1, len(TEXTS))


@every_vendor
async def test_the_embedder_says_what_it_is(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, _):
        await embedder.learn()
        seen: Embedder = embedder
        assert (seen.model, seen.dimensions) == (vendor.model, vendor.dimensions)
        assert seen.batch_size == vendor.batch_size
        assert seen.is_remote
        assert seen.max_tokens >= 400
        assert seen.tokenizer == "llama"


@every_vendor
async def test_no_text_makes_no_call(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        assert (await embedder.embed([])).vectors == ()
        assert simulator.calls == 0


@every_vendor
async def test_a_full_batch_is_one_call_and_one_text_more_is_refused(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        texts = [f"text {n}" for n in range(embedder.batch_size)]
        assert len((await embedder.embed(texts)).vectors) == len(texts)
        assert simulator.calls == 1
        with pytest.raises(EmbedderRefused, match=f"Send {embedder.batch_size} at a time"):
            await embedder.embed([*texts, "one more"])
        assert simulator.calls == 1


@every_vendor
@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), (None, None), ("soon", None), ("-3", 0.0)]
)
async def test_429_is_busy_for_as_long_as_it_says(
    vendor: Vendor, header: str | None, seconds: float | None
) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        simulator.faults.add(busy(header))
        with pytest.raises(EmbedderBusy) as told:
            await embedder.embed(TEXTS)
        assert told.value.retry_after == seconds


@every_vendor
async def test_429_until_a_date_is_busy_until_then(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        until = datetime.now(UTC) + timedelta(seconds=120)
        simulator.faults.add(busy(format_datetime(until, usegmt=True)))
        with pytest.raises(EmbedderBusy) as told:
            await embedder.embed(TEXTS)
        assert told.value.retry_after == pytest.approx(119, abs=5)


@every_vendor
@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
async def test_a_broken_server_fails_and_the_next_call_works(vendor: Vendor, status: int) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        simulator.faults.add(Fault("status", status))
        with pytest.raises(EmbedderFailed, match=str(status)):
            await embedder.embed(TEXTS)
        assert len((await embedder.embed(TEXTS)).vectors) == len(TEXTS)


@every_vendor
@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_status_that_a_retry_cannot_fix_is_refused_with_a_remedy(vendor: Vendor, status: int) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        simulator.faults.add(Fault("status", status, {"location": "http://elsewhere.example/"}))
        with pytest.raises(EmbedderRefused, match=str(status)) as told:
            await embedder.embed(TEXTS)
        assert told.value.remedy
        assert simulator.calls == 1


@every_vendor
@pytest.mark.parametrize("fault", ["short", "wrong_size", "not_a_number", "not_json", "disconnect"])
async def test_nonsense_is_a_failure_and_never_a_vector(vendor: Vendor, fault: str) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        await embedder.learn()
        simulator.faults.add(Fault(fault))  # type: ignore[arg-type]  # one of its kinds
        with pytest.raises(EmbedderFailed):
            await embedder.embed(TEXTS)
        assert len((await embedder.embed(TEXTS)).vectors) == len(TEXTS)


@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.names_the_order], ids=lambda v: v.name)
async def test_vectors_out_of_order_are_a_failure(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        simulator.faults.add(Fault("shuffled"))
        with pytest.raises(EmbedderFailed, match="order"):
            await embedder.embed(TEXTS)


@pytest.mark.parametrize("vendor", [v for v in VENDORS if v.names_its_model], ids=lambda v: v.name)
async def test_another_model_in_an_answer_is_a_failure(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        await embedder.learn()
        simulator.faults.add(Fault("other_model"))
        with pytest.raises(EmbedderFailed, match="another-model"):
            await embedder.embed(TEXTS)
        assert embedder.model == vendor.model


@every_vendor
async def test_a_server_that_does_not_answer_is_a_failure_in_time(vendor: Vendor) -> None:
    async with remote(vendor.name, call_seconds=0.3) as (embedder, simulator):
        simulator.faults.add(Fault("slow"))
        with pytest.raises(EmbedderFailed, match="no answer"):
            await embedder.embed(TEXTS)


@every_vendor
async def test_an_unreachable_service_is_a_failure(vendor: Vendor) -> None:
    async with serving(EmbeddingsSimulator().app) as address:
        pass  # nobody listens at this address any more
    embedder = make_remote(vendor.name, settings(address))
    with pytest.raises(EmbedderFailed, match="ConnectError"):
        await embedder.embed(TEXTS)
    await embedder.close()


@every_vendor
async def test_a_wrong_key_is_refused_naming_the_variable_and_not_the_key(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        simulator.key = "another"
        with pytest.raises(EmbedderRefused, match="PENSTOCK_") as told:
            await embedder.embed(TEXTS)
        assert KEY not in str(told.value)


@every_vendor
async def test_an_error_that_repeats_the_text_or_the_key_is_not_repeated(vendor: Vendor) -> None:
    async with remote(vendor.name) as (embedder, simulator):
        for canary in (TEXTS[0], KEY):
            simulator.faults.add(Fault("status", 400, message=f"cannot take {canary!r}"))
            with pytest.raises(EmbedderRefused) as told:
                await embedder.embed(TEXTS)
            assert canary not in str(told.value)


@pytest.mark.parametrize(
    ("name", "field", "variable"),
    [
        ("brain", "brain_url", "PENSTOCK_BRAIN_URL"),
        ("brain", "brain_api_secret", "PENSTOCK_BRAIN_API_SECRET"),
        ("openai", "openai_api_key", "PENSTOCK_OPENAI_API_KEY"),
        ("cohere:embed-v4.0", "cohere_api_key", "PENSTOCK_COHERE_API_KEY"),
        ("voyage", "voyage_api_key", "PENSTOCK_VOYAGE_API_KEY"),
    ],
)
def test_a_missing_setting_is_named(name: str, field: str, variable: str) -> None:
    changes = {field: None, "openai_base_url": "https://api.openai.com/v1"}
    with pytest.raises(EmbedderRefused, match=variable):
        make_remote(name, settings("http://127.0.0.1:1", **changes))


def test_an_unknown_vendor_is_refused_with_the_list() -> None:
    with pytest.raises(EmbedderRefused, match="brain, openai, cohere, voyage"):
        make_remote("clippy", settings("http://127.0.0.1:1"))
