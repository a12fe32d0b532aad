"""Creates an embedder by the name stored with a project, and lists the available models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.embed.local import embedder as local
from penstock.embed.models_dir import MINILM, minilm_is_installed
from penstock.errors import InvalidArgument, PenstockError, SettingInvalid
from penstock.model.embedder import Embedder
from penstock.settings import Settings

LOCAL_NAMES = {"wordllama": "wordllama", local.WORDLLAMA: "wordllama", "minilm": "minilm", MINILM: "minilm"}
"""Short names and model ids, since both are stored."""

_added: dict[str, Callable[[Settings], Embedder]] = {}


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An available model. `ready`: installed if local, address and key configured if remote."""

    name: str
    model: str | None
    dimensions: int | None
    max_tokens: int
    is_remote: bool
    is_ready: bool
    remedy: str | None = None
    """What to do to make it ready."""


def add_embedder(name: str, make: Callable[[Settings], Embedder]) -> None:
    """Make an embedder selectable by name in this process; `known_models` does not list it."""
    _added[name] = make


def make_embedder(name: str, settings: Settings, *, gives_way: bool = False) -> Embedder:
    """The embedder of this name or model id; local ones start their child at the first call.

    With `gives_way` it runs at low priority, so that searches on the same machine go first.
    """
    if name in _added:
        return _added[name](settings)
    from penstock.embed.remote import VENDORS, make_remote  # imports HTTP, which local models do not need

    match LOCAL_NAMES.get(name):
        case "wordllama":
            return local.wordllama(gives_way=gives_way)
        case "minilm":
            return local.minilm(settings, gives_way=gives_way)
    if name.partition(":")[0] in VENDORS:
        return make_remote(name, settings)
    raise _unknown(name, settings)


def check_configured(name: str, settings: Settings) -> None:
    """Raise InvalidArgument, with what to do, for an embedder that is not installed or configured.

    Does not call it: one that is temporarily down may still be chosen.
    """
    if LOCAL_NAMES.get(name) == "wordllama" or name in _added:
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
    """Raise SettingInvalid if the fallback model or address cannot be used, instead of in an outage."""
    _check_fallback_address(settings)
    name = settings.embedder_fallback
    if name is None:
        return
    variable = "PENSTOCK_EMBEDDER_FALLBACK"
    if LOCAL_NAMES.get(name, name) == LOCAL_NAMES.get(settings.embedder, settings.embedder):
        raise SettingInvalid(variable, f"{name} is already the embedder of new projects; choose another")
    try:
        make_embedder(name, settings)
    except PenstockError as error:
        raise SettingInvalid(variable, f"{error.message}. {error.remedy}") from error


def _check_fallback_address(settings: Settings) -> None:
    """Raise SettingInvalid for a second address that belongs to no vendor in particular."""
    from penstock.embed.remote.making import configured_vendors, fallback_vendor

    if settings.embedding_fallback_url is None or fallback_vendor(settings) is not None:
        return
    configured = ", ".join(configured_vendors(settings)) or "none"
    raise SettingInvalid(
        "PENSTOCK_EMBEDDING_FALLBACK_URL",
        f"it is the second address of one vendor, and gets that vendor's key, but PENSTOCK_EMBEDDER is "
        f"{settings.embedder} and the vendors with a key are: {configured}; set PENSTOCK_EMBEDDER to a model "
        f"of the vendor it belongs to, or unset PENSTOCK_EMBEDDING_FALLBACK_URL",
    )


def known_models(settings: Settings) -> list[ModelInfo]:
    """The local models, then each vendor's default; other models are named vendor:MODEL."""
    is_installed = minilm_is_installed(settings)
    remedy = None if is_installed else "Run: penstock model install minilm"
    return [
        ModelInfo("wordllama", local.WORDLLAMA, 256, local.WORDLLAMA_MAX_TOKENS, False, True),
        ModelInfo("minilm", MINILM, 384, local.MINILM_MAX_TOKENS, False, is_installed, remedy),
        *_remote_models(settings),
    ]


def _remote_models(settings: Settings) -> list[ModelInfo]:
    from penstock.embed.remote import brain, cohere, openai, voyage
    from penstock.embed.remote.making import missing_settings

    needs = missing_settings(settings)
    found = []
    for vendor, maker in (("brain", brain), ("openai", openai), ("cohere", cohere), ("voyage", voyage)):
        model = maker.model_of(None)
        missing = needs[vendor]
        name = f"{vendor}:{model.name}" if model.name else vendor
        found.append(
            ModelInfo(
                name=name,
                model=name if model.name else None,
                dimensions=model.dimensions,
                max_tokens=model.max_tokens,
                is_remote=True,
                is_ready=missing is None,
                remedy=None if missing is None else f"Set {missing}",
            )
        )
    return found
