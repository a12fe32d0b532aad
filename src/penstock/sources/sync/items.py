"""Items between two checkpoints, ready to be compared and written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.sources.protocol import Failed, Gone, Item

LONGEST_ID: Final = 1_000
LONGEST_MESSAGE: Final = 500
_UNSTORABLE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")
"""JSON escapes that jsonb may reject: NUL and surrogates."""


@dataclass(frozen=True, slots=True)
class ReadItem:
    """An item under its external id, `STREAM/ID`: two streams of a source may use the same ids."""

    external_id: str
    item: Item
    payload: str
    sha256: bytes


@dataclass(slots=True)
class Batch:
    """The last event of an item is the one that counts; `seen` counts all of them."""

    stream: str
    items: dict[str, ReadItem] = field(default_factory=dict)
    gone: dict[str, None] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, event: Item | Gone | Failed) -> None:
        if isinstance(event, Failed):
            self.fail(event.id, event.code, event.message, event.path)
            return
        external_id = f"{self.stream}/{event.id}"
        if not event.id or len(external_id) > LONGEST_ID or "\x00" in event.id:
            self.fail(event.id[:100], "bad_id", f"an id has 1 to {LONGEST_ID} characters and no NUL", "id")
            return
        self.items.pop(external_id, None)
        self.gone.pop(external_id, None)
        if isinstance(event, Gone):
            self.gone[external_id] = None
            return
        try:
            payload = as_json(event.payload)
        except (TypeError, ValueError, RecursionError) as error:
            self.fail(event.id, "bad_payload", f"the payload is not JSON: {error}", None)
            return
        compared = event.fingerprint or f"{event.version or ''}\0{payload}"
        digest = hashlib.sha256(f"{event.document_type}\0{compared}".encode("utf-8", "replace"))
        self.items[external_id] = ReadItem(external_id, event, payload, digest.digest())

    def fail(self, item_id: str | None, code: str, message: str, path: str | None) -> None:
        failure = {"stream": self.stream, "id": item_id, "code": code, "message": message, "path": path}
        self.failures.append(
            {name: _storable(value)[:LONGEST_MESSAGE] for name, value in failure.items() if value is not None}
        )

    def __len__(self) -> int:
        return len(self.items) + len(self.gone) + len(self.failures)


def as_json(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Canonical JSON that jsonb accepts: sorted keys, no NUL, no lone surrogates."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if _UNSTORABLE.search(text):
        text = json.dumps(_clean(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, Mapping):
        return {_storable(str(key)): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
