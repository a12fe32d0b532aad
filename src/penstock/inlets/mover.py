"""The loop of every inlet: receive, one transaction, acknowledge; never acknowledged before the commit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from penstock.db.connect import CONNECTION_LOST
from penstock.inlets.about_data import CANCELLED, is_about_data, sqlstate_of
from penstock.inlets.calls import InletCalls, InletGone, Outcome
from penstock.inlets.faults import reach
from penstock.inlets.protocol import AnyInlet, Incoming, Inlet, LocalInlet, Moved, Receipt
from penstock.observe import Metrics, get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MoverOptions:
    """`hold`: how long a batch is kept from others while it cannot be taken in; renewed at half of it."""

    limit: int = 100
    wait: float = 20.0
    hold: float = 30.0
    longest_delay: float = 30.0
    shortest_poll: float = 0.05
    longest_poll: float = 1.0


class _Stopped(Exception):
    """The inlet was stopped while its batch could not be taken in."""


class Mover:
    """Moves messages of one inlet from `start` to `stop`; waits out the sender and the database."""

    def __init__(
        self,
        inlet: AnyInlet,
        calls: InletCalls,
        options: MoverOptions | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.inlet = inlet
        self._calls = calls
        self._options = options or MoverOptions()
        self._metrics = metrics
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._idle = True
        self._failures = 0
        self._in_hand: Sequence[Incoming] = ()
        self._renew_at = 0.0
        self._left: list[Exception] = []
        """Why messages of the batch in hand were left to their sender."""
        self.moved = 0
        """Messages that became tasks so far."""
        self.lag_seconds: float | None = None
        self.backlog: int | None = None
        self.error: str | None = None

    @property
    def ended(self) -> bool:
        """Whether it gave up, because the inlet is paused or removed."""
        return self._task is not None and self._task.done()

    @property
    def failures(self) -> int:
        """How many times in a row it failed; it backs off ever longer."""
        return self._failures

    def status(self) -> dict[str, object]:
        """How it goes, as the holder of the inlet reports it."""
        return {"lag_seconds": self.lag_seconds, "backlog": self.backlog, "error": self.error}

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"penstock-inlet-{self.inlet.name}")

    async def stop(self, grace: float = 5.0) -> None:
        """Finish the batch in hand within the grace; what is not taken in by then goes back to the sender."""
        self._stopping.set()
        if self._task is not None:
            if self._idle:
                self._task.cancel()
            await asyncio.wait([self._task], timeout=grace)
            self._task.cancel()
            await asyncio.wait([self._task])
        await self.inlet.aclose()

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if isinstance(self.inlet, LocalInlet):
                    await self._move(self.inlet)
                else:
                    await self._step(self.inlet)
                self._failures = 0
                self.error = _shown(self._left[-1]) if self._left else None
            except InletGone as error:
                log.info("inlet_stopped", inlet=self.inlet.name, reason=str(error))
                return
            except _Stopped:
                return
            except Exception as error:  # noqa: BLE001  # the sender or the database is away: tried again
                self.error = _shown(error)
                log.throttled("inlet_failed", key=self.inlet.name, inlet=self.inlet.name, error=error)
                await self._back_off()

    async def _step(self, inlet: Inlet) -> None:
        """Receive a batch, take it in, answer the sender."""
        if self._failures:
            # Each receive counts as a delivery: none while there is nowhere to put the messages.
            await self._calls.ping()
        self._idle = True
        self._left.clear()
        batch = await inlet.receive(self._options.limit, self._options.wait)
        self._idle = False
        if not batch:
            self._note(Moved(0))
            return
        reach("inlet.received")
        self._in_hand = batch
        self._renew_at = monotonic() + self._options.hold / 2
        try:
            outcomes = await self._take_in(inlet, batch)
        except (InletGone, _Stopped, asyncio.CancelledError):
            await self._give_back(inlet, batch)
            raise
        if self._left and not outcomes:
            raise self._left[-1]
        reach("inlet.committed")
        self._note(
            Moved(
                len(outcomes),
                sum(each.outcome == "taken" for each in outcomes),
                sum(each.outcome == "duplicate" for each in outcomes),
                sum(each.outcome == "refused" for each in outcomes),
                _lag(batch),
            )
        )
        await self._answer(inlet, outcomes)
        reach("inlet.acknowledged")

    async def _take_in(self, inlet: Inlet, batch: Sequence[Incoming]) -> list[Outcome]:
        """Until it is known to be committed: take_in finds in the ledger what an unanswered call has done.

        What no message is to blame for is waited out: each message that is left costs one of its deliveries.
        """
        tries = 0
        while True:
            try:
                return await self._calls.take_in(inlet.name, batch)
            except InletGone:
                raise
            except Exception as error:
                if await self._is_too_slow(error):
                    if len(batch) == 1:
                        raise
                    return await self._take_halves(inlet, batch)
                if not isinstance(error, CONNECTION_LOST) and is_about_data(error):
                    if len(batch) == 1:
                        raise
                    # take_in refuses what is bad; what fails it all the same must not hold up the others.
                    log.throttled("inlet_failed", key=inlet.name, inlet=inlet.name, error=error)
                    return [outcome for each in batch for outcome in await self._take_one(inlet, each)]
                self.error = _shown(error)
                log.throttled("inlet_waiting", key=inlet.name, inlet=inlet.name, error=error)
            if self._stopping.is_set():
                raise _Stopped
            await self._renew(inlet)
            await self._pause(tries)
            tries += 1

    async def _renew(self, inlet: Inlet) -> None:
        """Keep all of the batch from others, also what is not being taken in at the moment."""
        if monotonic() < self._renew_at:
            return
        try:
            await inlet.extend([each.receipt for each in self._in_hand], self._options.hold)
            self._renew_at = monotonic() + self._options.hold / 2
        except Exception as error:  # noqa: BLE001  # at worst the sender delivers them again
            log.throttled("inlet_failed", key=inlet.name, inlet=inlet.name, error=error)

    async def _pause(self, tries: int) -> None:
        """Ever longer, but never so long that the batch would be shown to others, and not while stopping."""
        longest = min(0.1 * 2.0 ** min(tries + 1, 12), self._options.hold / 4)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), longest * random.uniform(0.5, 1.0))

    async def _is_too_slow(self, error: Exception) -> bool:
        """Whether the statement took too long, and not the way to the database."""
        if sqlstate_of(error) == CANCELLED:
            return True
        return isinstance(error, TimeoutError) and await self._database_answers()

    async def _database_answers(self) -> bool:
        try:
            await self._calls.ping()
        except Exception:  # noqa: BLE001  # it is not there, or it rejects our login
            return False
        return True

    async def _take_halves(self, inlet: Inlet, batch: Sequence[Incoming]) -> list[Outcome]:
        """What is too much for one statement in less; a message that is too slow alone holds up no other."""
        log.throttled("inlet_batch_too_slow", key=inlet.name, inlet=inlet.name, messages=len(batch))
        outcomes: list[Outcome] = []
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            await self._renew(inlet)
            if len(half) == 1:
                outcomes += await self._take_one(inlet, half[0])
            else:
                outcomes += await self._take_in(inlet, half)
        return outcomes

    async def _take_one(self, inlet: Inlet, incoming: Incoming) -> list[Outcome]:
        """Nothing if it fails alone: it is not acknowledged, and its sender's limit of deliveries ends it."""
        try:
            await self._renew(inlet)
            return await self._take_in(inlet, [incoming])
        except (InletGone, _Stopped):
            raise
        except Exception as error:  # noqa: BLE001  # logged, and left to the sender
            self._left.append(error)
            self.error = _shown(error)
            log.throttled("inlet_failed", key=inlet.name, inlet=inlet.name, error=error)
            return []

    async def _answer(self, inlet: Inlet, outcomes: Sequence[Outcome]) -> None:
        done: list[Receipt] = [each.incoming.receipt for each in outcomes if each.outcome != "refused"]
        if done:
            await inlet.acknowledge(done)
        for each in outcomes:
            if each.outcome == "refused":
                await inlet.refuse(each.incoming.receipt, each.reason or "refused")

    async def _give_back(self, inlet: Inlet, batch: Sequence[Incoming]) -> None:
        try:
            await inlet.extend([each.receipt for each in batch], 0)
        except Exception as error:  # noqa: BLE001  # the sender delivers it again by itself
            log.throttled("inlet_hand_back_failed", key=inlet.name, inlet=inlet.name, error=error)

    async def _move(self, inlet: LocalInlet) -> None:
        """Move batches until there is nothing, then wait, ever longer."""
        wait = self._options.shortest_poll
        while not self._stopping.is_set():
            self._idle = False
            moved = await inlet.move()
            self._note(moved)
            self.error = None
            self._failures = 0
            if moved.received:
                wait = self._options.shortest_poll
                continue
            self._idle = True
            await inlet.wait(wait)
            wait = min(wait * 2, self._options.longest_poll)

    def _note(self, moved: Moved) -> None:
        self.moved += moved.taken
        self.lag_seconds = moved.lag_seconds if moved.received else 0.0
        self.backlog = moved.backlog
        if self._metrics is not None:
            self._metrics.inlet(
                self.inlet.name,
                taken=moved.taken,
                duplicates=moved.duplicates,
                refused=moved.refused,
                lag_seconds=self.lag_seconds,
            )

    async def _back_off(self) -> None:
        self._failures += 1
        delay = min(self._options.longest_delay, 0.1 * 2.0 ** min(self._failures, 12))
        self._idle = True
        await asyncio.sleep(delay * random.uniform(0.5, 1.0))


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _lag(batch: Sequence[Incoming]) -> float | None:
    """By this machine's clock and the sender's: a figure for people, which decides nothing."""
    sent = [each.sent_at for each in batch if each.sent_at is not None]
    return max(0.0, (datetime.now(UTC) - min(sent)).total_seconds()) if sent else None
