"""Finds an embedder by the name a project keeps, and lists the models there are."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import InvalidArgument, PenstockError, SettingInvalid
from penstock.model.embedder import Embedder
from penstock.pipeline.embed import local
from penstock.pipeline.embed.models_dir import MINILM, minilm_is_installed
from penstock.settings import Settings

LOCAL_NAMES = {"wordllama": "wordllama", local.WORDLLAMA: "wordllama", "minilm": "minilm", MINILM: "minilm"}
"""Short names and model ids alike, for both are kept somewhere."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model to choose from. `ready`: installed if local, its address and key given if remote."""

    name: str
    model: str | None
    dimensions: int | None
    max_tokens: int
    is_remote: bool
    is_ready: bool
    remedy: str | None = None
    """What to do before it is ready."""


def make_embedder(name: str, settings: Settings, *, gives_way: bool = False) -> Embedder:
    """The embedder of this name or model id; local ones start their child at the first call.

    One that `gives_way` works in the background: a search on the same machine goes first.
    """
    from penstock.pipeline.embed.remote import VENDORS, make_remote  # HTTP, which a local model never needs

    match LOCAL_NAMES.get(name):
        case "wordllama":
            return local.wordllama(gives_way=gives_way)
        case "minilm":
            return local.minilm(settings, gives_way=gives_way)
    if name.partition(":")[0] in VENDORS:
        return make_remote(name, settings)
    raise _unknown(name, settings)


def check_configured(name: str, settings: Settings) -> None:
    """Raise InvalidArgument, saying what to do, for an embedder that this installation cannot use as it is.

    Nothing is called: one that is down for a moment may still be chosen.
    """
    if LOCAL_NAMES.get(name) == "wordllama":
        return
    vendor = LOCAL_NAMES.get(name) or name.partition(":")[0]
    for info in known_models(settings):
        if info.name.partition(":")[0] == vendor:
            if not info.is_ready:
                missing = "not configured" if info.is_remote else "not installed"
                raise InvalidArgument(f"the embedder {name!r} is {missing}", "embedder", info.remedy or "")
            return
    raise _unknown(name, settings)


def _unknown(name: str, settings: Settings) -> InvalidArgument:
    names = ", ".join(info.name for info in known_models(settings))
    return InvalidArgument(f"there is no embedder {name!r}", "embedder", f"Use one of {names}")


def check_fallback(settings: Settings) -> None:
    """Raises SettingInvalid when the fallback cannot be used, so that it is not found out in an outage."""
    name = settings.embedder_fallback
    if name is None:
        return
    variable = "PENSTOCK_EMBEDDER_FALLBACK"
    if LOCAL_NAMES.get(name, name) == LOCAL_NAMES.get(settings.embedder, settings.embedder):
        raise SettingInvalid(variable, f"{name} is the embedder of new projects itself; name another model")
    try:
        make_embedder(name, settings)
    except PenstockError as error:
        raise SettingInvalid(variable, f"{error.message}. {error.remedy}") from error


def known_models(settings: Settings) -> list[ModelInfo]:
    """The local models, then each vendor's default; a vendor's others go by vendor:MODEL."""
    is_installed = minilm_is_installed(settings)
    remedy = None if is_installed else "Run: penstock model install minilm"
    return [
        ModelInfo("wordllama", local.WORDLLAMA, 256, local.WORDLLAMA_MAX_TOKENS, False, True),
        ModelInfo("minilm", MINILM, 384, local.MINILM_MAX_TOKENS, False, is_installed, remedy),
        *_remote_models(settings),
    ]


def _remote_models(settings: Settings) -> list[ModelInfo]:
    from penstock.pipeline.embed.remote import brain, cohere, openai, voyage

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
    found = []
    for vendor, maker in (("brain", brain), ("openai", openai), ("cohere", cohere), ("voyage", voyage)):
        model = maker.model_of(None)
        given, variables = needs[vendor]
        name = f"{vendor}:{model.name}" if model.name else vendor
        found.append(
            ModelInfo(
                name=name,
                model=name if model.name else None,
                dimensions=model.dimensions,
                max_tokens=model.max_tokens,
                is_remote=True,
                is_ready=bool(given),
                remedy=None if given else f"Set {variables}",
            )
        )
    return found
