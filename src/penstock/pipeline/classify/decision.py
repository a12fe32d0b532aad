"""What a classifier decided, as ingest.put_class() takes it."""

from __future__ import annotations

import json

from penstock.pipeline.classify.protocol import FoundClass, Keep, Skip

OWN: str = "own"
"""The version of a classifier that does not say which class it found."""


def decision_json(decided: Skip | Keep) -> str:
    is_skipped = isinstance(decided, Skip)
    reason = decided.reason.replace("\0", "") if isinstance(decided, Skip) else None
    found = decided.found or FoundClass(name=reason or "", version=OWN)
    return json.dumps(
        {
            "verdict": "drop" if is_skipped else "keep",
            "name": found.name,
            "skip_reason": reason,
            "score": found.score,
            "reasons": list(found.reasons),
            "version": found.version,
        }
    )
