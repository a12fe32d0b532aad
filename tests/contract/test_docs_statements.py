"""Statements of the documentation that can be checked by running them or by asking the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from penstock.api.rate_limit import burst_of
from penstock.embed.remote.making import VENDORS, make_remote
from penstock.errors import EmbedderRefused
from penstock.search.query import SearchOptions
from penstock.settings import Settings

ROOT = Path(__file__).parents[2]


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_contributing_shows_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    drawn = re.search(r"<!-- layers -->\n```\n(.*?)```", text_of("CONTRIBUTING.md"), re.DOTALL)
    assert drawn is not None
    shown = [{room.strip() for room in rooms.split(",")} for rooms in drawn[1].split("→")]
    assert shown == [{package.strip() for package in layer.split("|")} for layer in reversed(layers)]


@pytest.mark.parametrize(
    ("per_minute", "burst"), [(6_000, 1_000), (600, 100), (60, 10), (30, 10), (10, 10), (6, 6), (1, 1)]
)
def test_a_burst_is_a_sixth_but_at_least_ten_and_never_more_than_the_figure(
    per_minute: int, burst: int
) -> None:
    assert burst_of(per_minute) == burst
    assert (
        "a sixth of the figure, but at least 10 requests, and never more than the whole figure"
        in " ".join(text_of("docs/reference/http.md").split())
    )


async def test_the_settings_page_tells_each_vendors_batch_size() -> None:
    row = next(
        line
        for line in text_of("docs/operate/settings.md").splitlines()
        if "PENSTOCK_EMBEDDING_BATCH_SIZE" in line
    )
    settings = Settings.model_validate(
        {"brain_url": "http://127.0.0.1:9", "brain_api_secret": "s"}
        | {f"{vendor}_api_key": "k" for vendor in VENDORS if vendor != "brain"}
    )
    sizes = {}
    for vendor in VENDORS:
        embedder = make_remote(vendor, settings)
        sizes[vendor] = embedder.batch_size
        await embedder.close()
    assert sizes == {"brain": 32, "openai": 128, "voyage": 128, "cohere": 96}
    assert "32 for the brain, 128 for OpenAI and Voyage, 96 for Cohere" in row


async def test_an_embedder_that_is_not_set_up_names_the_variable() -> None:
    for vendor, variable in (
        ("openai", "PENSTOCK_OPENAI_API_KEY"),
        ("cohere", "PENSTOCK_COHERE_API_KEY"),
        ("voyage", "PENSTOCK_VOYAGE_API_KEY"),
        ("brain", "PENSTOCK_BRAIN_URL"),
    ):
        with pytest.raises(EmbedderRefused, match=variable):
            make_remote(vendor, Settings())
        assert variable in text_of("docs/guides/embedders.md")


def test_the_python_reference_lists_every_option_of_a_search() -> None:
    lines = text_of("docs/reference/python.md").splitlines()
    row = next(line for line in lines if line.startswith("| `search(query, **options)` | a `SearchAnswer`"))
    listed = re.findall(r"`([a-z_]+)`", row.partition("Options: ")[2])
    assert set(listed) == set(SearchOptions.__annotations__)


def test_every_reason_why_a_task_waits_is_explained() -> None:
    told = text_of("src/penstock/sql/queues/functions/explain.sql").partition("as $$")[2]
    reasons = set(re.findall(r"\bselect '([a-z_]+)'", told))
    assert {"running", "suspect", "in_line"} <= reasons
    page = text_of("docs/operate/troubleshooting.md")
    assert {reason for reason in reasons if f"`{reason}`" not in page} == set()
