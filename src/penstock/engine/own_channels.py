"""The channels an app declares itself: created when it opens, closed when it closes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidArgument
from penstock.processes.channel_handler import ChannelHandler
from penstock.processes.channels.channel import Channel
from penstock.processes.channels.own import check_name, close_channel, concurrency_of, why_no_channel
from penstock.settings import Settings
from penstock.worker import Context


class OwnChannels:
    """Channel classes by name; `open` creates them, with connections for their handlers."""

    def __init__(self) -> None:
        self._classes: dict[str, type[Channel]] = {}
        self._exchanges: dict[str, ChannelHandler] = {}
        self._made: list[Channel] = []
        self._tenants: TenantPool | None = None

    def add(self, name: str, made: type[Channel]) -> None:
        """Register a class; raises InvalidArgument if it cannot be a channel."""
        check_name(name)
        if (reason := why_no_channel(made)) is not None:
            remedy = "Write a class with: async def call(self, request, run)"
            raise InvalidArgument(f"no channel {name}: {reason}", "channel", remedy)
        self._classes[name] = made

    @property
    def slots(self) -> Mapping[str, int]:
        """Per queue: how many attempts run at once in one worker."""
        return {name: concurrency_of(made) for name, made in self._classes.items()}

    async def attempt(self, name: str, payload: dict[str, Any], ctx: Context) -> None:
        await self._exchanges[name](payload, ctx)

    async def open(self, url: str, settings: Settings) -> None:
        self._tenants = await TenantPool.open(
            url,
            application_name="penstock channels",
            size=settings.pool_size,
            statement_cache=settings.statement_cache,
            quotas=settings.quotas,
        )
        for name, made in self._classes.items():
            channel = made()
            self._made.append(channel)
            self._exchanges[name] = ChannelHandler(self._tenants, channel)

    async def close(self) -> None:
        while self._made:
            await close_channel(self._made.pop())
        tenants, self._tenants = self._tenants, None
        if tenants is not None:
            await tenants.close()
