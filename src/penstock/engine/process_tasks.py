"""The task types of supervised processes: db_function and the channels to the outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.db.tenancy import TenantPool
from penstock.engine.tasks import Tasks
from penstock.model import Exponential
from penstock.model.queue_names import DELETE, DELETE_ACCOUNT, EMAIL, SMS, SUPERVISE
from penstock.processes.channel_handler import ChannelHandler
from penstock.processes.channels.channel import Channel
from penstock.processes.channels.email import EmailChannel
from penstock.processes.channels.file_delete import FileDeleteChannel
from penstock.processes.channels.names import ChannelName
from penstock.processes.channels.own import OwnChannel, close_channel, offered_channels
from penstock.processes.channels.sms import SmsChannel
from penstock.processes.db_function import DbFunction
from penstock.settings import Settings
from penstock.worker import Context

if TYPE_CHECKING:
    import httpx2

    from penstock.blobs.store import Blobs
    from penstock.index import Index


class Processes:
    """Declares the channels' task types, including those of installed packages; `open` creates the channels.

    Retries here are for failures on our side, such as an unreachable database or a before handler that
    raised; whether a failed attempt is repeated is the supervisor's decision.
    """

    def __init__(self, app: Tasks, settings: Settings) -> None:
        self._settings = settings
        self._exchanges: dict[str, ChannelHandler] = {}
        self._made: list[Channel] = []
        again = Exponential(base=1, factor=4)

        @app.task(ChannelName.DB_FUNCTION.value, queue=SUPERVISE, retry=again)
        async def db_function(payload: dict[str, Any], ctx: Context) -> None:
            await self._db_function(payload, ctx)

        for task_type, queue in (
            (ChannelName.EMAIL, EMAIL),
            (ChannelName.SMS, SMS),
            (ChannelName.FILE_DELETE, DELETE),
        ):
            self._declare(app, task_type.value, queue, again)
        self._own = {channel.name: channel for channel in offered_channels(app.registry.types)}
        for name in self._own:
            self._declare(app, name, name, again)

    def _declare(self, app: Tasks, task_type: str, queue: str, again: Exponential) -> None:
        @app.task(task_type, queue=queue, retry=again)
        async def channel(payload: dict[str, Any], ctx: Context) -> None:
            await (self._exchanges.get(task_type) or self._exchange(self._own[task_type]))(payload, ctx)

    def _exchange(self, own: OwnChannel) -> ChannelHandler:
        """Create a user-defined channel, with its first attempt."""
        channel = own.make()
        self._made.append(channel)
        return self._exchanges.setdefault(own.name, ChannelHandler(self._tenants, channel))

    @property
    def queues(self) -> Mapping[str, int]:
        """The queues of processes, with each one's concurrency per worker; imports user-defined channels."""
        own = {name: channel.concurrency for name, channel in self._own.items()}
        return own | {
            SUPERVISE: 8,
            EMAIL: self._settings.smtp_connections,
            SMS: 4,
            DELETE: 4,
            DELETE_ACCOUNT: 1,
        }

    def open(self, tenants: TenantPool, blobs: Blobs, vectors: Index, http: httpx2.AsyncClient) -> None:
        """Create the channels; nothing connects before the first attempt."""
        self._tenants = tenants
        self._db_function = DbFunction(tenants)
        self._email = EmailChannel(self._settings)
        sms = SmsChannel(self._settings, http)
        files = FileDeleteChannel(blobs, vectors, http, signed=self._settings.file_delete_signed)
        for name, channel in (
            (ChannelName.EMAIL, self._email),
            (ChannelName.SMS, sms),
            (ChannelName.FILE_DELETE, files),
        ):
            self._exchanges[name] = ChannelHandler(tenants, channel)

    async def close(self) -> None:
        await self._email.close()
        for channel in self._made:
            await close_channel(channel)
