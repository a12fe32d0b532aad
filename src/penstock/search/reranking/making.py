"""Creates the reranker named in the settings."""

from __future__ import annotations

from typing import Final

from penstock.errors import SettingInvalid
from penstock.net import open_client
from penstock.search.reranking.protocol import RerankWire
from penstock.search.reranking.remote import RemoteReranker
from penstock.search.reranking.wires import (
    COHERE_MODEL,
    VOYAGE_MODEL,
    CohereRerank,
    TeiRerank,
    VoyageRerank,
)
from penstock.settings import Settings

_VARIABLE: Final = "PENSTOCK_RERANKER"
_FORMS: Final = "cohere[:MODEL], voyage[:MODEL] or tei:URL"
_MAX_ANSWER_BYTES: Final = 4 << 20


def check_reranker(settings: Settings) -> None:
    """Raise SettingInvalid if the reranker is unknown or lacks its key, instead of degrading every search."""
    _parts(settings)


def make_reranker(settings: Settings) -> RemoteReranker:
    """Raises SettingInvalid as `check_reranker` does."""
    wire, address = _parts(settings)
    # The operator sets the address, often in a private network: so private addresses are allowed.
    client = open_client(
        allow_private=True, max_answer_bytes=_MAX_ANSWER_BYTES, total_seconds=settings.rerank_seconds
    )
    return RemoteReranker(wire, client, address)


def _parts(settings: Settings) -> tuple[RerankWire, str]:
    name = settings.reranker or ""
    vendor, _, rest = name.partition(":")
    match vendor:
        case "cohere":
            key = _given(settings.cohere_api_key, "PENSTOCK_COHERE_API_KEY")
            return CohereRerank(rest or COHERE_MODEL, key), settings.cohere_base_url
        case "voyage":
            key = _given(settings.voyage_api_key, "PENSTOCK_VOYAGE_API_KEY")
            return VoyageRerank(rest or VOYAGE_MODEL, key), settings.voyage_base_url
        case "tei" if rest.startswith(("http://", "https://")):
            return TeiRerank((settings.tei_api_key or "").strip() or None), rest
        case _:
            raise SettingInvalid(_VARIABLE, f"{name!r} is not a reranker; use {_FORMS}")


def _given(value: str | None, variable: str) -> str:
    stripped = (value or "").strip()
    if not stripped:
        raise SettingInvalid(_VARIABLE, f"it needs {variable}, which is not set")
    return stripped
