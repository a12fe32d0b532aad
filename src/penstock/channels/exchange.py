"""The task handler of email, sms and file_delete: before handler, provider, success or error handler."""

from __future__ import annotations

from typing import Any

from penstock.channels.channel import Channel
from penstock.channels.envelope import MalformedEnvelope
from penstock.channels.handlers import run_for_tenant
from penstock.channels.order import Order
from penstock.channels.outcome import Failed, Outcome, Succeeded
from penstock.channels.ports import Run
from penstock.channels.settling import settle
from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost


class Exchange:
    """One attempt of a supervised process. A failed attempt completes its task too: the supervisor retries.

    A crash between the provider and the handler runs the task again, so the provider may be called twice;
    facts are written once, in the transaction that closes the lease.
    """

    def __init__(self, tenants: TenantPool, channel: Channel) -> None:
        self._tenants = tenants
        self._channel = channel

    async def __call__(self, payload: dict[str, Any], run: Run) -> None:
        order = Order.read(payload, run)
        for key in ("success_handler", "error_handler"):
            order.named(key)  # before anything goes out: without them nobody would hear of it
        await settle(self._tenants, order, await self._attempt(order, run), run)

    async def _attempt(self, order: Order, run: Run) -> Outcome:
        before = order.named_if_any("before_handler")
        request = order.payload
        if before is not None:
            # One that raises, or a database that is away, leaves the task to the queue's own retries.
            try:
                envelope = await run_for_tenant(self._tenants, order, before)
            except MalformedEnvelope as malformed:
                return Failed.by_error(malformed)
            if not envelope.succeeded:
                return Failed.by_answer(before, envelope)
            request = envelope.payload
        try:
            return Succeeded(await self._channel.call(request, run))
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, it is how the attempt ended
            return Failed.by_error(error)
