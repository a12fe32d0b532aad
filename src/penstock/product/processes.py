"""The task types by which supervised processes run: db_function and the channels to the outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.app import Penstock
from penstock.channels import DbFunction, EmailChannel, Exchange, FileDeleteChannel, SmsChannel
from penstock.channels.ports import DeletesBlobs, DropsVectors
from penstock.db.tenancy import TenantPool
from penstock.model import Exponential
from penstock.product.queues import DELETE, DELETE_ACCOUNT, EMAIL, SMS, SUPERVISE
from penstock.settings import Settings
from penstock.worker import Context

if TYPE_CHECKING:
    import httpx2


class Processes:
    """Declares the channels' task types; `open` makes what they send by.

    Retries here are for what broke on our side of the provider, a database that was away or a before handler
    that raised; whether an attempt that failed is made again is the supervisor's decision.
    """

    def __init__(self, app: Penstock, settings: Settings) -> None:
        self._settings = settings
        self._exchanges: dict[str, Exchange] = {}
        again = Exponential(base=1, factor=4)

        @app.task("db_function", queue=SUPERVISE, retry=again)
        async def db_function(payload: dict[str, Any], ctx: Context) -> None:
            await self._db_function(payload, ctx)

        for task_type, queue in ((EMAIL, EMAIL), (SMS, SMS), ("file_delete", DELETE)):
            self._declare(app, task_type, queue, again)

    def _declare(self, app: Penstock, task_type: str, queue: str, again: Exponential) -> None:
        @app.task(task_type, queue=queue, retry=again)
        async def channel(payload: dict[str, Any], ctx: Context) -> None:
            await self._exchanges[task_type](payload, ctx)

    @property
    def queues(self) -> Mapping[str, int]:
        """The queues of processes, and how much of each one worker does at a time."""
        return {SUPERVISE: 8, EMAIL: self._settings.smtp_connections, SMS: 4, DELETE: 4, DELETE_ACCOUNT: 1}

    def open(
        self, tenants: TenantPool, blobs: DeletesBlobs, vectors: DropsVectors, http: httpx2.AsyncClient
    ) -> None:
        """Make the channels; nothing connects before the first attempt."""
        self._db_function = DbFunction(tenants)
        self._email = EmailChannel(self._settings)
        sms = SmsChannel(self._settings, http)
        files = FileDeleteChannel(blobs, vectors, http, signed=self._settings.file_delete_signed)
        for task_type, channel in ((EMAIL, self._email), (SMS, sms), ("file_delete", files)):
            self._exchanges[task_type] = Exchange(tenants, channel)

    async def close(self) -> None:
        await self._email.close()
