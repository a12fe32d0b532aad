"""Where models are installed, and whether one is."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from penstock.errors import EmbedderRefused
from penstock.settings import Settings

MINILM = "minilm-l6-v2-int8"
MINILM_FILES = ("model.onnx", "tokenizer.json", "manifest.json")


def models_dir(settings: Settings) -> Path:
    """The folder of installed models: a setting, or a cache shared by all of a user's checkouts."""
    if settings.models_dir is not None:
        return settings.models_dir.expanduser().absolute()
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache"
    return base / "penstock" / "models"


def minilm_folder(settings: Settings) -> Path:
    return models_dir(settings) / MINILM


def minilm_is_installed(settings: Settings) -> bool:
    folder = minilm_folder(settings)
    return all((folder / name).is_file() for name in MINILM_FILES)


def minilm_tokenizer(settings: Settings) -> str:
    """The name of MiniLM's tokeniser with its folder, since the chunking child has another environment."""
    return f"minilm@{minilm_folder(settings)}"


@cache
def default_minilm_folder() -> Path:
    """Where `minilm` is looked up if no folder is named."""
    return minilm_folder(Settings())


def not_installed(folder: Path) -> EmbedderRefused:
    return EmbedderRefused(MINILM, f"it is not installed in {folder}", "Run: penstock model install minilm")
