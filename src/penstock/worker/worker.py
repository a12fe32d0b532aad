"""The worker: connects its services for a set of queues, and starts, re-registers and stops them in order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from penstock.db import Pool
from penstock.db.connect import create_pool
from penstock.db.listener import Listener, ListenerState
from penstock.db.reconnecting import ReconnectingConnection
from penstock.model import Lease, LeaseId
from penstock.observe import Metrics, get_logger
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.lease_calls import LeaseCalls
from penstock.queue.registry import Registry
from penstock.queue.schedule import next_tick
from penstock.settings import Settings
from penstock.worker import native_stall
from penstock.worker.announcer import SECONDS as ANNOUNCE_SECONDS
from penstock.worker.announcer import Announcer
from penstock.worker.claimer import Claimer, ClaimOptions
from penstock.worker.closer import Closer
from penstock.worker.duties import LeaseReconciler, fire_schedules, maintain, read_gauges, rescue
from penstock.worker.duty import Duty
from penstock.worker.heartbeat import Heartbeat
from penstock.worker.loop_watch import LoopWatch
from penstock.worker.options import WorkerOptions
from penstock.worker.registration import Registration, own_versions
from penstock.worker.runner import Runner
from penstock.worker.slots import Slots
from penstock.worker.stall import Stall, end_stalled_process

log = get_logger(__name__)

READY = "penstock_ready"
MAILBOX = "penstock_worker"
CANCEL = "penstock_cancel"
WATCH = "penstock_watch"
SHORTEST_SILENCE = 5.0
LISTEN_SECONDS = 0.5
"""How long a start waits for the listener; tasks are claimed without one, but later."""
MAINTENANCE_SECONDS = 60.0


class Worker:
    """Claims and runs tasks between `start` and `stop`; survives losing the database."""

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        runtime_url: str,
        listen_url: str,
        options: WorkerOptions,
        metrics: Metrics | None = None,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._url = runtime_url
        self._listen_url = listen_url
        self._options = options
        self.metrics = metrics or Metrics()
        self.registration: Registration | None = None
        self._claims = self._line("claims")
        self._closes = self._line("closes")
        self._errands = self._line("duties")
        self._calls = DutyCalls(self._errands)
        self._lease_calls = LeaseCalls(self._claims, self._closes)
        self._announcer = Announcer(self._calls.announce, self._started)
        self._closer = Closer(self._lease_calls, self.metrics, self._closed, self._announcer.closed)
        self._slots: dict[str, Slots] = {}
        self._claimers: dict[str, Claimer] = {}
        self._by_number: dict[str, Claimer] = {}
        self._heartbeat: Heartbeat | None = None
        self._listener: Listener | None = None
        self._duties: list[Duty] = []
        self._reregistering: asyncio.Task[None] | None = None
        self._was_stalled = False
        """A task of ours blocked the loop: losing the worker is its fault, although the process lives."""
        self._stopping = False
        self.asked_to_stop = asyncio.Event()
        """Set when an operator asked for it: the worker then stops by itself."""
        self._stopping_itself: asyncio.Task[None] | None = None
        self._pool: Pool | None = None
        self._pool_lock = asyncio.Lock()

    def _line(self, use: str, statement_timeout: float | None = None) -> ReconnectingConnection:
        """A connection silent for a lease counts as dead: a half-open one could stay silent for hours."""
        return ReconnectingConnection(
            self._url,
            application_name=f"penstock {use}",
            statement_timeout=statement_timeout or max(self._settings.lease_seconds, SHORTEST_SILENCE),
            statement_cache=self._settings.statement_cache,
        )

    @property
    def closed_total(self) -> int:
        """Tasks this worker has closed so far."""
        return self._closer.total

    def known_leases(self) -> set[LeaseId]:
        """Every lease that a slot holds or the closer is about to close."""
        return self._closer.pending().union(*(slots.known() for slots in self._slots.values()))

    async def start(self) -> None:
        """Declare task types, register, and start by scanning every queue."""
        settings = self._settings
        self._home = asyncio.get_running_loop()
        if self._options.owns_process:
            native_stall.prepare()
        # All at once, and not one after the other when each is first used.
        await asyncio.gather(self._claims.open(), self._closes.open(), self._errands.open())
        await self._calls.declare(self._registry.types.values())
        clock = await self._calls.clock()
        for schedule in self._registry.schedules.values():
            await self._calls.declare_schedule(schedule, next_tick(schedule.cron, schedule.timezone, clock))
        claim_options = ClaimOptions(
            settings.notify, settings.poll_interval, settings.poll_jitter, settings.prefetch_seconds
        )
        reserve = self._options.reserve
        # A limit that is not set here must not override one set in the database.
        stated = "payload_limit_bytes" in settings.model_fields_set
        payload_limit = settings.payload_limit_bytes if stated else None
        for queue, concurrency in self._options.queues.items():
            runner = Runner(self._registry, self._closer, self.metrics, self.pool)
            slots = Slots(queue, concurrency, runner, self._closer)
            waits = replace(claim_options, reserve=reserve.get(queue, 0))
            claimer = Claimer(slots, self._lease_calls, self.metrics, waits, self._given_up, self._mailbox)
            self._slots[queue] = slots
            self._claimers[queue] = claimer
        numbers = await self._calls.put_queues(self._claimers, payload_limit)
        self._by_number = {str(number): self._claimers[queue] for queue, number in numbers.items()}
        await self._register()
        await self._closer.start()
        await self._listen()
        for slots in self._slots.values():
            await slots.start()
        for claimer in self._claimers.values():
            await claimer.start()
        await self._announcer.begin()
        accountant = LeaseReconciler(self._calls, self._lease_calls, self)
        self._duties = [
            Duty("rescue", max(settings.lease_seconds / 3, 0.2), self._rescue),
            Duty("schedules", 1.0, lambda: fire_schedules(self._calls)),
            Duty("maintenance", MAINTENANCE_SECONDS, self._maintain),
            Duty("gauges", 15.0, lambda: read_gauges(self._calls, self.metrics)),
            Duty("accounting", 5.0, accountant.run_once),
            Duty("durations", 1.0, self._report),
            Duty("announcing", ANNOUNCE_SECONDS, self._announcer.run_once),
        ]
        inlets = self._options.inlets
        if inlets is not None:
            every = max(settings.lease_seconds / 3, 0.2)
            self._duties.append(Duty("inlets", every, lambda: inlets.look(self._errands)))
        for duty in (*self._duties, *self._options.services):
            await duty.start()

    async def _listen(self) -> None:
        """Connect the listener, before a claimer could register without a mailbox and have to look again."""
        # Cancellations come by NOTIFY too, so the listener runs even if wake-ups are switched off.
        notify = self._settings.notify
        channels = [READY, CANCEL, WATCH] if notify else [CANCEL]
        self._listener = Listener(
            self._listen_url, channels, self._notified, self._listening, mailbox=MAILBOX if notify else None
        )
        await self._listener.start()
        if notify:
            with suppress(TimeoutError):  # the claimers look often until it is connected
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._listener.connected.wait()

    async def stop(self, grace: float | None = None) -> None:
        """Stop claiming, finish or return tasks within the grace without using up attempts, deregister."""
        if self._stopping_itself is not None:
            await asyncio.shield(self._stopping_itself)
        else:
            await self._stop(grace)

    async def _stop(self, grace: float | None = None) -> None:
        self._stopping = True
        grace = self._settings.grace_seconds if grace is None else grace
        if self._reregistering is not None:
            self._reregistering.cancel()
            await asyncio.wait([self._reregistering])
        for claimer in self._claimers.values():
            await claimer.stop()
        for duty in (*self._options.services, *self._duties):
            await duty.stop()
        inlets = self._options.inlets
        await asyncio.gather(
            *(slots.stop(grace) for slots in self._slots.values()),
            *([inlets.stop(self._errands, grace)] if inlets is not None else []),
        )
        await self._closer.flush(timeout=max(5.0, grace))
        await self._closer.stop()
        await asyncio.gather(
            *(service.stop() for service in (self._listener, self._heartbeat) if service is not None)
        )
        if self._options.owns_process:
            native_stall.postpone(0.0)
        if self.registration is not None:
            try:
                handed_back = await asyncio.wait_for(self._calls.stop(self.registration.worker_id), 5.0)
                log.info("worker_stopped", worker_id=self.registration.worker_id, handed_back=handed_back)
            except Exception as error:  # noqa: BLE001  # we are stopping anyway
                # Its leases are rescued after it has been silent for a lease.
                log.warning("deregistering_failed", worker_id=self.registration.worker_id, error=error)
        await asyncio.gather(*(line.close() for line in (self._claims, self._closes, self._errands)))
        if self._pool is not None:
            await self._pool.close()

    def hurry(self) -> None:
        """Cut the grace period short: cancel running handlers and return their tasks."""
        for slots in self._slots.values():
            slots.hurry()

    async def wait_empty(self) -> None:
        """Wait until a scan that began while nothing was running or closing finds every queue empty."""
        while True:
            await self._closer.flush(timeout=60.0)
            if self.known_leases():
                await asyncio.sleep(0.001)
                continue
            started = self._started()
            found_nothing = await asyncio.gather(*(claimer.look() for claimer in self._claimers.values()))
            # A claim in progress when we began may have returned a task that ran and enqueued another.
            if all(found_nothing) and not self.known_leases() and started == self._started():
                return

    def _started(self) -> int:
        return sum(slots.started for slots in self._slots.values())

    async def pool(self) -> Pool:
        """Connections for handlers' own transactions, opened at the first use."""
        if self._pool is None:
            async with self._pool_lock:
                if self._pool is None:
                    self._pool = await create_pool(
                        self._url,
                        application_name="penstock handlers",
                        min_size=0,
                        max_size=self._settings.pool_size,
                        statement_cache_size=self._settings.statement_cache,
                    )
        return self._pool

    def _closed(self, leases: Sequence[Lease], freed: bool) -> None:
        """Let the queues of these leases look for what their end made claimable.

        A freed key goes to the next task by a claim of its own queue, which wakes another queue's worker by
        NOTIFY. A worker gets only one suspect task (two workers lost) at a time, from whichever queue.
        """
        if freed and (not self._settings.notify or any(lease.losses > 1 for lease in leases)):
            self._wake_all()
            return
        for number in {lease.queue_number for lease in leases}:
            claimer = self._by_number.get(str(number))
            if claimer is not None and (freed or claimer.limited):
                claimer.wake()

    def _wake_all(self) -> None:
        for claimer in self._claimers.values():
            claimer.wake()

    def _mailbox(self) -> int:
        """Where producers reach us; 0, which nobody holds, while we do not listen."""
        return 0 if self._listener is None else self._listener.mailbox or 0

    def _notified(self, channel: str, payload: str) -> None:
        self.metrics.notification(channel)
        if channel in (READY, MAILBOX):
            number, _, kind = payload.partition(":")
            claimer = self._by_number.get(number)
            if claimer is not None:
                (claimer.told if channel == MAILBOX else claimer.wake)(due=kind == "due")
        elif channel == WATCH:
            self._announcer.watched(float(payload))
        elif self._heartbeat is not None and payload == self.metrics.worker_id:
            self._heartbeat.beat_now()

    def _listening(self, state: ListenerState, error: Exception | None) -> None:
        if state is ListenerState.LOST:
            log.throttled("listener_lost", error=error)
        elif state is ListenerState.CONNECTED:
            for claimer in self._claimers.values():
                claimer.reconnected()

    def _cancel(self, cancels: Mapping[LeaseId, str]) -> None:
        for lease_id, reason in cancels.items():
            log.info("task_cancelling", lease_id=lease_id, reason=reason)
            for slots in self._slots.values():
                slots.stop_one(lease_id, "cancel")

    def _stop_asked(self, by: str) -> None:
        """Each beat repeats it."""
        if self._stopping:
            return
        log.info("worker_asked_to_stop", by=by)
        self._stopping = True
        self._stopping_itself = asyncio.get_running_loop().create_task(
            self._stop(), name="penstock-worker-stop"
        )
        self.asked_to_stop.set()

    async def _stalled(self, watch: LoopWatch, line: ReconnectingConnection) -> None:
        """In the heartbeat's thread: log where the loop is stuck, and return what did not cause it."""
        assert self.registration is not None
        self._was_stalled = True
        stall = Stall(self.registration.worker_id, watch)
        known = self.known_leases() if self._options.owns_process else None
        stall.blame(self._slots.values(), asyncio.current_task(self._home), known)
        await stall.report(line)
        if known is not None:
            end_stalled_process()

    def _given_up(self) -> None:
        """We were silent for longer than a lease: drop what we hold and register again under a new id."""
        if self._stopping or (self._reregistering is not None and not self._reregistering.done()):
            return
        log.warning("worker_given_up", worker_id=self.registration.worker_id if self.registration else None)
        self._reregistering = asyncio.get_running_loop().create_task(
            self._reregister(), name="penstock-reregister"
        )

    async def _reregister(self) -> None:
        if self._heartbeat is not None:
            await self._heartbeat.stop()
        # Queries of the old registration are obsolete and may hang on a half-open connection.
        await asyncio.gather(*(line.close() for line in (self._claims, self._closes, self._errands)))
        while True:
            try:
                await self._register()
                return
            except Exception as error:  # noqa: BLE001  # retried until it works or we stop
                log.throttled("registering_failed", error=error)
                await asyncio.sleep(0.5)

    async def _register(self) -> None:
        settings = self._settings
        asked_at = monotonic()
        worker_id = await self._calls.register(
            self._options.name,
            list(self._options.queues),
            settings.lease_seconds,
            own_versions(),
            None if self.registration is None or self._was_stalled else self.registration.worker_id,
        )
        self._was_stalled = False
        registration = Registration(worker_id, settings.lease_seconds)
        registration.renew(asked_at)
        self.registration = registration
        self.metrics.worker_id = str(worker_id)
        self._closer.register(worker_id)
        for slots in self._slots.values():
            slots.register(registration)
        for claimer in self._claimers.values():
            claimer.register(registration)
        self._heartbeat = Heartbeat(
            self._url,
            registration,
            settings.beat_seconds,
            self._cancel,
            self._given_up,
            self._stalled,
            self._stop_asked,
            settings.stall_seconds,
            self._postpone_end if self._options.owns_process else lambda: None,
            settings.statement_cache,
        )
        self._heartbeat.start()
        log.info(
            "worker_started", worker_id=worker_id, name=self._options.name, queues=dict(self._options.queues)
        )

    def _postpone_end(self) -> None:
        native_stall.postpone(0.0 if self._stopping else self._settings.stall_seconds)

    async def _rescue(self) -> None:
        await rescue(self._calls, self.metrics, self._wake_all)

    async def _maintain(self) -> None:
        # On its own connection: it may take long, and a rescue must not wait behind it.
        line = self._line("maintenance", MAINTENANCE_SECONDS)
        try:
            await maintain(
                DutyCalls(line), self._settings.completed_retention_days, self._settings.dead_retention_days
            )
        finally:
            await line.close()

    async def _report(self) -> None:
        for slots in self._slots.values():
            slots.report()
            self.metrics.set_slots(slots.queue, busy=slots.busy, free=max(0, slots.concurrency - slots.busy))
