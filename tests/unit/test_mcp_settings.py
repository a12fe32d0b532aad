"""An assistant's copy of the settings has every one that a search depends on."""

from __future__ import annotations

import re
from pathlib import Path

import penstock
from penstock.cli.mcp.config import NEEDED
from penstock.engine.services import Services
from penstock.settings import Settings

ROOT = Path(penstock.__file__).parent
NOT_OF_A_SEARCH = frozenset({"embedding_batch_size", "embedding_price_per_million_tokens"})
"""What only those that index documents, or sum up costs, look at."""


def read_in(text: str) -> set[str]:
    return set(re.findall(r"\bsettings\.([a-z_0-9]+)", text)) & Settings.model_fields.keys()


def test_every_setting_that_a_search_reads_is_printed_for_an_assistant() -> None:
    files = [path for name in ("search", "index", "embed") for path in (ROOT / name).rglob("*.py")]
    asked = read_in("\n".join(path.read_text() for path in files))
    whole = (ROOT / "engine" / "services.py").read_text()
    for name in ("search", "_reranking"):
        assert hasattr(Services, name)
        asked |= read_in(whole.partition(f"def {name}(self)")[2].partition("\n    def ")[0])
    assert {"reranker", "tei_api_key", "qdrant_url", "search_embed_seconds"} <= asked, "nothing was found"
    assert asked - {*NEEDED} - NOT_OF_A_SEARCH == set()
