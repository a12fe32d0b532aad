"""An inlet that reads a queue of SQS: a message is a task, and a FIFO group stays in its order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final, Protocol

from penstock.db.connect import CONNECTION_LOST
from penstock.errors import PenstockError
from penstock.inlets.about_data import is_about_data
from penstock.inlets.protocol import Incoming, InletRow
from penstock.inlets.register import Surroundings
from penstock.inlets.sqs_payloads import LargePayloads, PayloadRefused, StoreUnavailable
from penstock.inlets.sqs_queue import SqsQueue, queue_of
from penstock.observe import get_logger

log = get_logger(__name__)

MOST_PARTS: Final = 5_000
_NAMES: Final = ("task_type", "tenant", "queue", "unique_key", "limit_key")
_PAYLOAD_SHOWN: Final = "{}"


@dataclass(slots=True)
class SqsDelivery:
    """One delivery of a message: its receipt. `left` parts of it are not acknowledged yet."""

    handle: str
    group: str | None
    received_at: float
    left: int = 1
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class SqsMessage:
    """A message as its decoder sees it."""

    message_id: str
    body: str
    attributes: Mapping[str, str]
    received: int
    sent_at: datetime | None
    delivery: SqsDelivery


class MessageDecoder(Protocol):
    """Makes of each message what the ledger takes in: one task, several, or none."""

    async def __call__(self, messages: Sequence[SqsMessage]) -> Sequence[Sequence[Incoming]]: ...

    async def aclose(self) -> None: ...


@dataclass(slots=True)
class SqsInlet:
    """Visibility covers the hand-over only; a malformed message is left to the queue's redrive policy."""

    name: str
    source: str
    queue: SqsQueue
    payloads: LargePayloads
    decode: MessageDecoder
    _later: dict[str, deque[SqsMessage]] = field(default_factory=dict)
    """Messages of FIFO groups of which an earlier one is being handed over."""
    _kept: list[SqsMessage] = field(default_factory=list)
    """Messages that were received and not handed over: the next receive is about them."""
    _heads_out: list[SqsDelivery] = field(default_factory=list)
    """The heads of FIFO groups that the last receive took out of the line."""
    _careful_until: float = 0.0
    """One message at a time until then: each receive counts, and those behind a bad one are innocent."""

    async def receive(self, limit: int, wait: float) -> Sequence[Incoming]:
        messages = await self._still_kept()
        if not messages:
            await self._drop_unsettled()
            messages = await self._found(limit, wait)
        try:
            return await self._decoded(messages)
        except asyncio.CancelledError:
            self._kept = messages  # aclose() gives them back, also if this is cancelled again
            await self._give_back_kept()
            raise
        except Exception as error:
            if isinstance(error, CONNECTION_LOST) or not is_about_data(error):
                # No message is to blame, and to receive them again would cost each a delivery.
                self._kept = messages
                await self._renew(messages)
            raise

    async def _found(self, limit: int, wait: float) -> list[SqsMessage]:
        """New messages, or of FIFO groups those that waited for the ones before them."""
        found: list[SqsMessage] = []
        if not self._later:
            now = monotonic()
            most = 1 if now < self._careful_until else limit
            found = [_message(each, now) for each in await self.queue.receive(most, wait)]
        return self._heads(found) if self.queue.is_fifo else found

    async def _still_kept(self) -> list[SqsMessage]:
        """What an earlier receive has left, but for what others may have received since."""
        kept, self._kept = self._kept, []
        age = self.queue.visibility
        now = monotonic()
        left = [each for each in kept if now - each.delivery.received_at < age]
        self._drop(each.delivery.group for each in kept if now - each.delivery.received_at >= age)
        await self._renew([each for each in left if self._is_late(each)])
        return left

    async def _renew(self, messages: Sequence[SqsMessage]) -> None:
        """Hide them as long as if they had just been received."""
        if not messages:
            return
        try:
            await self.queue.hide([each.delivery.handle for each in messages], self.queue.visibility)
        except PenstockError as error:
            log.throttled("inlet_failed", key=self.name, inlet=self.name, error=error)
            return
        for each in messages:
            each.delivery.received_at = monotonic()

    async def _give_back_kept(self) -> None:
        """Show what is in hand to others at once, with what waits behind it."""
        handles = [each.delivery.handle for each in self._kept]
        handles += self._drop(each.delivery.group for each in self._kept)
        if handles:
            await self.queue.give_back(handles)
        self._kept = []

    async def _decoded(self, messages: Sequence[SqsMessage]) -> list[Incoming]:
        """What the messages ask for; those that ask for nothing are deleted."""
        readable, incoming = await self._bodies(messages)
        done = []
        decoded = await self.decode(readable)
        for number, (message, parts) in enumerate(zip(readable, decoded, strict=True)):
            if len(parts) > MOST_PARTS:
                reason = f"it would make {len(parts)} tasks, more than {MOST_PARTS}: "
                parts = [refused_message(message, f"{reason}send fewer events in a message")]
            if len(incoming) + len(parts) > MOST_PARTS:
                self._kept = readable[number:]
                break
            message.delivery.left = len(parts)
            incoming.extend(parts)
            if not parts:
                done.append(message.delivery.handle)
        if done:
            log.info("inlet_ignored", inlet=self.name, messages=len(done))
            try:
                await self.queue.delete(done)
            except PenstockError as error:  # they come again, and the others are handed over now
                log.throttled("inlet_failed", key=self.name, inlet=self.name, error=error)
        return incoming

    async def _bodies(self, messages: Sequence[SqsMessage]) -> tuple[list[SqsMessage], list[Incoming]]:
        """The messages with their payloads, and those that are refused; one whose store is away is left."""
        readable: list[SqsMessage] = []
        refused: list[Incoming] = []
        away: StoreUnavailable | None = None
        for message in messages:
            if away is not None and self._is_late(message) and self.payloads.points_at_one(message.body):
                continue  # each call to a store that does not answer may take half a minute
            try:
                body = await self.payloads.body_of(message.body)
            except PayloadRefused as why:
                refused.append(refused_message(message, str(why)))
            except StoreUnavailable as error:
                log.throttled("inlet_payload_unavailable", key=self.name, inlet=self.name, error=error)
                away = error
            else:
                readable.append(_with_body(message, body))
        if away is not None and not readable and not refused:
            raise away
        return readable, refused

    async def acknowledge(self, receipts: Sequence[SqsDelivery]) -> None:
        """Delete the messages of which every part was taken."""
        done = []
        for each in receipts:
            each.left -= 1
            if each.left == 0 and not each.is_refused:
                done.append(each.handle)
        if done:
            await self.queue.delete(done)

    async def extend(self, receipts: Sequence[SqsDelivery], seconds: float) -> None:
        handles = list(dict.fromkeys(each.handle for each in receipts))
        if seconds <= 0:
            handles += self._drop(each.group for each in receipts)
        await self.queue.hide(handles, seconds)

    async def refuse(self, receipt: SqsDelivery, reason: str) -> None:
        """Leave it: it comes again, and after as many receives as its policy says goes to the dead letters.

        Of a FIFO group nothing comes before that.
        """
        receipt.is_refused = True
        if self.queue.is_fifo:
            self._careful_until = monotonic() + 3 * self.queue.visibility
        if dropped := self._drop([receipt.group]):
            await self.queue.hide(dropped, 0)

    async def aclose(self) -> None:
        await self._give_back_kept()
        if dropped := self._drop(list(self._later)):
            await self.queue.give_back(dropped)
        await self.decode.aclose()

    def _heads(self, found: Sequence[SqsMessage]) -> list[SqsMessage]:
        """The next message of each group, one at a time: the one after it only if it became a task."""
        for message in found:
            self._later.setdefault(message.delivery.group or "", deque()).append(message)
        heads = []
        for group, line in list(self._later.items()):
            message = line.popleft()
            if not line:
                del self._later[group]
            if self._is_late(message):
                self._later.pop(group, None)  # they are about to be shown again, all of them
            else:
                heads.append(message)
        self._heads_out = [each.delivery for each in heads]
        return heads

    def _is_late(self, message: SqsMessage) -> bool:
        return monotonic() - message.delivery.received_at >= self.queue.visibility / 2

    async def _drop_unsettled(self) -> None:
        """Give back what waits behind heads that became no task, whatever failed: they come again first."""
        heads, self._heads_out = self._heads_out, []
        groups = [each.group for each in heads if each.left > 0]
        if not groups:
            return
        self._careful_until = monotonic() + 3 * self.queue.visibility
        if dropped := self._drop(groups):
            await self.queue.give_back(dropped)

    def _drop(self, groups: Iterable[str | None]) -> list[str]:
        """Forget what waits behind these groups' heads; returns its receipts."""
        dropped = [self._later.pop(group or "", ()) for group in dict.fromkeys(groups)]
        return [each.delivery.handle for line in dropped for each in line]


class TaskDecoder:
    """A body is a payload; message attributes may name task_type, tenant, queue, priority and keys."""

    def __init__(self, queue: SqsQueue) -> None:
        self._line = queue.url.rpartition("/")[2] if queue.is_fifo else None

    async def __call__(self, messages: Sequence[SqsMessage]) -> Sequence[Sequence[Incoming]]:
        return [[self._task(each)] for each in messages]

    async def aclose(self) -> None:
        pass

    def _task(self, message: SqsMessage) -> Incoming:
        named: dict[str, Any] = {name: message.attributes.get(name) for name in _NAMES}
        priority = message.attributes.get("priority")
        if priority is not None and not (priority.isascii() and priority.isdecimal() and len(priority) < 4):
            return refused_message(message, f"priority: {priority[:20]!r} is not a number from 0 to 9")
        if self._line is not None:
            # In line behind the earlier messages of its group, until each of them has ended for good.
            named["unique_key"] = f"{self._line} {message.delivery.group or ''}"
            named["on_duplicate"] = "wait"
        return Incoming(
            key=message.message_id,
            payload=message.body,
            receipt=message.delivery,
            received=message.received,
            sent_at=message.sent_at,
            priority=None if priority is None else int(priority),
            **named,
        )


def refused_message(message: SqsMessage, reason: str) -> Incoming:
    return Incoming(
        key=message.message_id,
        payload=_PAYLOAD_SHOWN,
        receipt=message.delivery,
        received=message.received,
        sent_at=message.sent_at,
        refused=reason,
    )


def _message(given: Mapping[str, Any], now: float) -> SqsMessage:
    system = given.get("Attributes", {})
    sent = system.get("SentTimestamp", "")
    return SqsMessage(
        given["MessageId"],
        given.get("Body", ""),
        {
            name: each["StringValue"]
            for name, each in given.get("MessageAttributes", {}).items()
            if "StringValue" in each
        },
        int(system.get("ApproximateReceiveCount", 1)),
        datetime.fromtimestamp(int(sent) / 1000, UTC) if sent.isdecimal() else None,
        SqsDelivery(given["ReceiptHandle"], system.get("MessageGroupId"), now),
    )


def _with_body(message: SqsMessage, body: str) -> SqsMessage:
    return SqsMessage(
        message.message_id, body, message.attributes, message.received, message.sent_at, message.delivery
    )


async def open_inlet(row: InletRow, surroundings: Surroundings) -> SqsInlet:
    """`config`: queue_url, payload_bucket, visibility_seconds, and the task_type of messages without one."""
    queue = queue_of(surroundings.settings, row.config)
    return await opened(row, surroundings, queue, TaskDecoder(queue))


async def opened(
    row: InletRow, surroundings: Surroundings, queue: SqsQueue, decoder: MessageDecoder
) -> SqsInlet:
    try:
        if not await queue.has_redrive():
            log.warning("inlet_without_redrive", inlet=row.name)
    except PenstockError as error:
        log.info("inlet_redrive_unknown", inlet=row.name, reason=error.message)
    payloads = LargePayloads(surroundings.settings, row.config.get("payload_bucket"))
    return SqsInlet(row.name, row.source, queue, payloads, decoder)
