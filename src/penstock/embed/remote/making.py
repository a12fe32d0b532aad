"""Creates a remote embedder from its name and the settings."""

from __future__ import annotations

from typing import Final

from penstock.embed.remote import brain, cohere, openai, voyage
from penstock.embed.remote.embedder import RemoteEmbedder
from penstock.embed.remote.wire import ModelFacts, Wire
from penstock.errors import EmbedderRefused
from penstock.net import open_client
from penstock.settings import Settings

VENDORS: Final = ("brain", "openai", "cohere", "voyage")
CALL_SECONDS: Final = 60.0
_MAX_ANSWER_BYTES: Final = 128 * 1024 * 1024


def make_remote(name: str, settings: Settings, *, call_seconds: float = CALL_SECONDS) -> RemoteEmbedder:
    """The embedder called `brain`, `openai`, `cohere` or `voyage`, with `:MODEL` for another model.

    `brain:MODEL` pins the model the brain must use. Raises EmbedderRefused naming a missing variable.
    """
    vendor, _, rest = name.partition(":")
    model, wire, address = _parts(vendor, rest or None, settings)
    fallback = settings.embedding_fallback_url if vendor == fallback_vendor(settings) else None
    # The operator sets the address, often in a private network: so private addresses are allowed.
    client = open_client(allow_private=True, max_answer_bytes=_MAX_ANSWER_BYTES, total_seconds=call_seconds)
    return RemoteEmbedder(wire, model, client, address, fallback)


def fallback_vendor(settings: Settings) -> str | None:
    """The one vendor that uses PENSTOCK_EMBEDDING_FALLBACK_URL: the address also gets that vendor's key.

    That of PENSTOCK_EMBEDDER; if that is local, the only vendor that is configured; None if there are more.
    """
    vendor = settings.embedder.partition(":")[0]
    if vendor in VENDORS:
        return vendor
    configured = configured_vendors(settings)
    return configured[0] if len(configured) == 1 else None


def configured_vendors(settings: Settings) -> list[str]:
    return [vendor for vendor, missing in missing_settings(settings).items() if missing is None]


def missing_settings(settings: Settings) -> dict[str, str | None]:
    """The variables to set for each vendor; None if it is configured."""
    is_openai = settings.openai_base_url.rstrip("/") == openai.DEFAULT_URL
    needs = {
        "brain": (
            settings.brain_url and settings.brain_api_secret,
            "PENSTOCK_BRAIN_URL and PENSTOCK_BRAIN_API_SECRET",
        ),
        "openai": (settings.openai_api_key or not is_openai, "PENSTOCK_OPENAI_API_KEY"),
        "cohere": (settings.cohere_api_key, "PENSTOCK_COHERE_API_KEY"),
        "voyage": (settings.voyage_api_key, "PENSTOCK_VOYAGE_API_KEY"),
    }
    return {vendor: None if given else variables for vendor, (given, variables) in needs.items()}


def _parts(vendor: str, name: str | None, settings: Settings) -> tuple[ModelFacts, Wire, str]:
    wire: Wire
    match vendor:
        case "brain":
            address = _given(vendor, settings.brain_url, "PENSTOCK_BRAIN_URL")
            secret = _given(vendor, settings.brain_api_secret, "PENSTOCK_BRAIN_API_SECRET")
            wire = brain.BrainWire(secret, settings.embedding_batch_size or brain.USUAL_TEXTS)
            return brain.model_of(name), wire, address
        case "openai":
            key: str | None = (settings.openai_api_key or "").strip() or None
            if settings.openai_base_url.rstrip("/") == openai.DEFAULT_URL:
                key = _given(vendor, key, "PENSTOCK_OPENAI_API_KEY")
            model = openai.model_of(name)
            wire = openai.OpenAIWire(model, key, _batch(settings, openai.USUAL_TEXTS, openai.MOST_TEXTS))
            return model, wire, settings.openai_base_url
        case "cohere":
            key = _given(vendor, settings.cohere_api_key, "PENSTOCK_COHERE_API_KEY")
            model = cohere.model_of(name)
            wire = cohere.CohereWire(model, key, _batch(settings, cohere.MOST_TEXTS, cohere.MOST_TEXTS))
            return model, wire, settings.cohere_base_url
        case "voyage":
            key = _given(vendor, settings.voyage_api_key, "PENSTOCK_VOYAGE_API_KEY")
            model = voyage.model_of(name)
            wire = voyage.VoyageWire(model, key, _batch(settings, voyage.USUAL_TEXTS, voyage.MOST_TEXTS))
            return model, wire, settings.voyage_base_url
        case _:
            raise EmbedderRefused(
                vendor, "there is no such remote embedder", f"Use one of {', '.join(VENDORS)}"
            )


def _batch(settings: Settings, usual: int, most: int) -> int:
    """The configured size, up to the vendor's maximum."""
    return min(settings.embedding_batch_size or usual, most)


def _given(vendor: str, value: str | None, variable: str) -> str:
    stripped = (value or "").strip()
    if not stripped:
        raise EmbedderRefused(vendor, f"{variable} is not set", f"Set {variable}")
    return stripped
