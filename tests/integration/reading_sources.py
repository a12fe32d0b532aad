"""Reads sources from the simulated providers in tests, without a database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.simulators.providers import ProviderSimulators
from penstock.sources.protocol import (
    Checkpoint,
    Cursor,
    Failed,
    Gone,
    Item,
    OpenSource,
    Reader,
)


class Opens(Protocol):
    """The part of a provider that reads."""

    def open(self, source: OpenSource) -> AbstractAsyncContextManager[Reader]: ...


FIRST = Cursor(None, is_full=True, is_first=True)


def token_for(simulators: ProviderSimulators, kind: str) -> str:
    """An access token of a user who has allowed everything."""
    access, _ = simulators.issue_tokens(kind)
    return access


def opened(
    simulators: ProviderSimulators,
    kind: str,
    config: Mapping[str, Any] | None = None,
    *,
    sandbox: bool = False,
    token: str | None = None,
    **settings: Any,
) -> OpenSource:
    """A source that is connected to a simulated provider."""
    known = Settings(_env_file=None, **{**simulators.settings(sandbox=sandbox), **settings})
    return OpenSource(
        TenantId(uuid4()),
        SourceId(uuid4()),
        kind,
        "9341453908059321" if kind == "quickbooks" else None,
        config or {},
        known,
        token or token_for(simulators, kind),
    )


@dataclass
class Pass:
    """What a read yielded, by kind of event."""

    items: list[Item] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        return [item.id for item in self.items]

    @property
    def after(self) -> Cursor:
        """Where the next delta starts."""
        assert self.checkpoints[-1].done
        return Cursor(self.checkpoints[-1].cursor, is_full=False)


async def read(reader: Reader, stream: str, cursor: Cursor = FIRST, *, pages: int | None = None) -> Pass:
    """Read a stream to its end, or to the given number of checkpoints."""
    found = Pass()
    async with aclosing(reader.read(stream, cursor)) as events:  # type: ignore[type-var]  # a generator
        async for event in events:
            match event:
                case Item():
                    found.items.append(event)
                case Gone(id):
                    found.gone.append(id)
                case Failed():
                    found.failed.append(event)
                case Checkpoint():
                    found.checkpoints.append(event)
                    if len(found.checkpoints) == pages:
                        return found
    return found


async def read_once(
    provider: Opens, source: OpenSource, stream: str, cursor: Cursor = FIRST, *, pages: int | None = None
) -> Pass:
    """Open the source, read a stream, and close it."""
    async with provider.open(source) as reader:
        return await read(reader, stream, cursor, pages=pages)
