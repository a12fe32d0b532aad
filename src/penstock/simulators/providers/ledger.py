"""The ledger: every request to the simulated providers, for tests to assert on."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

_SECRET: Final = ("client_secret", "refresh_token", "code", "code_verifier", "token", "access_token")


@dataclass(slots=True)
class Entry:
    """One request; `status` is none while it is answered or if the connection was dropped."""

    number: int
    time: datetime
    provider: str
    surface: str
    operation: str
    method: str
    path: str
    arguments: dict[str, Any]
    grant: int | None = None
    session: str | None = None
    status: int | None = None
    fault: str | None = None
    sent: int = 0
    """Bytes of the response's body."""


class Ledger:
    """The last 100,000 requests."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=100_000)
        self._count = 0

    def record(self, time: datetime, provider: str, surface: str, operation: str, **more: Any) -> Entry:
        self._count += 1
        more["arguments"] = _masked(more.get("arguments") or {})
        entry = Entry(self._count, time, provider, surface, operation, **more)
        self._entries.append(entry)
        return entry

    def entries(
        self,
        provider: str | None = None,
        surface: str | None = None,
        operation: str | None = None,
        *,
        since: int = 0,
    ) -> list[Entry]:
        """Requests in the order they came; `since` is the number of an earlier one."""
        return [
            each
            for each in self._entries
            if each.number > since
            and provider in (None, each.provider)
            and surface in (None, each.surface)
            and operation in (None, each.operation)
        ]

    def count(
        self, provider: str | None = None, surface: str | None = None, operation: str | None = None
    ) -> int:
        return len(self.entries(provider, surface, operation))

    def clear(self) -> None:
        self._entries.clear()


def described(entry: Entry) -> dict[str, Any]:
    """An entry as JSON."""
    return asdict(entry) | {"time": entry.time.isoformat()}


def _masked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Secrets as the beginning of their hash: equal ones can be recognised, none can be read."""
    return {
        name: f"sha256:{hashlib.sha256(str(value).encode()).hexdigest()[:12]}" if name in _SECRET else value
        for name, value in arguments.items()
    }
