"""Users' own channels: classes that installed packages offer or an app declares."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, cast

from penstock import entry_points
from penstock.errors import InvalidArgument
from penstock.processes.channels.channel import Channel
from penstock.processes.channels.names import ChannelName

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,38}")
CONCURRENCY: Final = 4
"""Concurrent attempts per worker, unless the class has its own `concurrency`."""


@dataclass(frozen=True, slots=True)
class OwnChannel:
    """A channel by its name; `load` imports its class."""

    name: str
    load: Callable[[], Callable[[], Channel]]

    @property
    def concurrency(self) -> int:
        return concurrency_of(self.load())

    def make(self) -> Channel:
        return self.load()()


def offered_channels(taken: Collection[str] = ()) -> tuple[OwnChannel, ...]:
    """What installed packages offer under `penstock.channels`; imports none of it.

    Raises EntryPointFailed for a name that cannot be one, or that is among those `taken`.
    """
    found: dict[str, OwnChannel] = {}
    for point in entry_points.offered(entry_points.CHANNELS):
        if (reason := why_not(point.name)) is not None:
            raise point.failed(reason)
        if point.name in taken or point.name in found:
            raise point.failed(f"there is another channel or task type {point.name}")
        found[point.name] = OwnChannel(point.name, _loader(point))
    return tuple(found.values())


def check_name(name: str) -> None:
    if (reason := why_not(name)) is not None:
        raise InvalidArgument(reason, "channel", "Use lower-case letters, digits and underscores")


def why_not(name: str) -> str | None:
    """Why a user's channel cannot have this name; None if it can."""
    if NAME.fullmatch(name) is None:
        return f"{name!r} cannot be a channel's name: lower-case letters, digits and underscores, at most 39"
    return f"the channel {name} is Penstock's own" if name in set(ChannelName) else None


def why_no_channel(made: object) -> str | None:
    """Why a class cannot be a channel; None if it can."""
    if not inspect.isclass(made):
        return f"it is a {type(made).__name__}, not a class"
    if not inspect.iscoroutinefunction(getattr(made, "call", None)):
        return f"the class {made.__name__} has no method: async def call(self, request, run)"
    try:
        inspect.signature(made).bind()
    except TypeError as error:
        return f"the class {made.__name__} cannot be made without arguments: {error}"
    wanted = getattr(made, "concurrency", CONCURRENCY)
    if not isinstance(wanted, int) or not 1 <= wanted <= 10_000:
        return f"the concurrency of {made.__name__} is {wanted!r}, not a number from 1 to 10000"
    return None


def concurrency_of(made: object) -> int:
    return cast("int", getattr(made, "concurrency", CONCURRENCY))


async def close_channel(channel: Channel) -> None:
    """Let it close what it opened, if it has a `close`."""
    close = getattr(channel, "close", None)
    if close is not None:
        closing = close()
        if inspect.isawaitable(closing):
            await closing


def _loader(point: entry_points.Offered) -> Callable[[], Callable[[], Channel]]:
    def load() -> Callable[[], Channel]:
        found = point.load()
        if (reason := why_no_channel(found)) is not None:
            raise point.failed(reason)
        return cast("Callable[[], Channel]", found)

    return load
