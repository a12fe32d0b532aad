"""A hypothesis state machine that drives the queue's SQL functions beside the model and compares them."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.db import Connection, Record
from penstock.db.connect import connect
from tests.sql.clock import INSTALL as STOP_THE_CLOCK
from tests.sql.model import LEASE_SECONDS, QUEUES, SLOTS, TYPES, Mode, Model, Task, UniqueKey, Worker

START: Final = datetime(2030, 1, 1, tzinfo=UTC)
TENANTS: Final = tuple(UUID(int=n) for n in (1, 2, 3))
WORKERS = 3
DRAIN_ROUNDS = 40

PREPARE = """
create table public.effect (task_id bigint not null);
select queues.put_queue('near'), queues.put_queue('far');
select queues.put_limits(q, 'each_key', null, 2), queues.put_limits(q, 'key', 'one', 1)
from unnest(array['near', 'far']) as q;
select
  queues.put_task_type('patient', 'near', 5, 5, 3, '{"default": {"kind": "table", "delays": [0, 5, 30]}}'),
  queues.put_task_type('eager', 'near', 5, 5, 2, '{"default": {"kind": "table", "delays": [0, 0]}}');
"""

# Deleting is faster than truncating thirty small tables.
RESET = """
delete from queues.task; delete from queues.task_kept; delete from queues.ready; delete from queues.lease;
delete from queues.attempt; delete from queues.error; delete from queues.waiting; delete from queues.parked;
delete from queues.held; delete from queues.freed; delete from queues.idle; delete from queues.cancel;
delete from queues.dead_letter; delete from queues.audit; delete from queues.worker where worker_id > 0;
delete from public.effect;
update queues.queue set paused_at = null where paused_at is not null;
alter sequence queues.task_id_seq restart; alter sequence queues.lease_id_seq restart;
select setseed(0);
"""

PLACES = """
select 'ready' as place, r.task_id, r.failures, r.losses, r.lane, r.seq, null::bytea as key,
  null::timestamptz as due_at, null::integer as worker_id, null::bigint as lease_id, null::text as reason
from queues.ready r
union all
select 'waiting', w.task_id, w.failures, w.losses, w.lane, w.seq, null, w.due_at, null, null, null
from queues.waiting w
union all
select 'parked', p.task_id, p.failures, p.losses, p.lane, p.seq, p.key, null, null, null, null
from queues.parked p
union all
select 'lease', l.task_id, l.failures, l.losses, l.lane, null, null, null, l.worker_id, l.lease_id, null
from queues.lease l
union all
select 'dead', d.task_id, d.attempts, d.losses, null, null, null, null, null, null, d.reason
from queues.dead_letter d
"""

OUTCOMES = """
select a.task_id, a.outcome::text, count(*) as times, count(distinct a.attempt_id) as leases
from queues.attempt a
group by a.task_id, a.outcome
"""


@dataclass(frozen=True, slots=True)
class Spec:
    """What a producer asks for."""

    task_type: str
    queue: str
    priority: int
    tenant: int | None
    delay: float
    unique_key: str | None
    mode: Mode
    limit_key: str | None
    time_limit: float | None
    count: int

    def task(self, task_id: int, now: float) -> Task:
        return Task(
            task_id=task_id,
            task_type=TYPES[self.task_type],
            queue=self.queue,
            priority=self.priority,
            tenant=self.tenant,
            unique_key=None if self.unique_key is None else (self.tenant, self.task_type, self.unique_key),
            mode=self.mode,
            limit_key=self.limit_key,
            time_limit=self.time_limit,
            due=now + self.delay,
            ticket=0,
        )


PLAIN = st.builds(
    Spec,
    task_type=st.sampled_from(sorted(TYPES)),
    queue=st.sampled_from(QUEUES),
    priority=st.sampled_from((0, 5, 9)),
    tenant=st.sampled_from((None, 0, 1, 2)),
    delay=st.sampled_from((0.0, 0.0, 0.0, 4.0)),
    unique_key=st.none(),
    mode=st.just("skip"),
    limit_key=st.sampled_from((None, None, "one", "two")),
    time_limit=st.sampled_from((None, None, 5.0)),
    count=st.sampled_from((1, 1, 4)),
)
UNIQUE = st.builds(
    Spec,
    task_type=st.just("patient"),
    queue=st.sampled_from((QUEUES[0], *QUEUES)),
    priority=st.sampled_from((0, 5)),
    tenant=st.none(),
    delay=st.sampled_from((0.0, 0.0, 0.0, 4.0)),
    unique_key=st.sampled_from(("a", "a", "b")),
    mode=st.sampled_from(("skip", "replace", "coalesce", "coalesce")),
    limit_key=st.sampled_from((None, None, "one")),
    time_limit=st.none(),
    count=st.just(1),
)
SPECS = st.one_of(PLAIN, UNIQUE)
PICKS = st.integers(0, 99)
HOW = (
    "complete",
    "complete_here",
    "fail",
    "fail",
    "fail_for_good",
    "snooze",
    "snooze_on",
    "release",
    "cancel",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a method of the machine."""

    call: str
    arguments: dict[str, Any]  # each method has its own


def steps() -> st.SearchStrategy[Step]:
    """Weighted steps behind one rule: of several, hypothesis would switch some off for a whole example."""
    queue, pick = st.sampled_from(QUEUES), PICKS
    keep = st.sampled_from((True, True, True, False))
    weighted: list[tuple[int, str, dict[str, st.SearchStrategy[Any]]]] = [
        (4, "enqueue", {"spec": PLAIN, "keep": keep}),
        (5, "enqueue", {"spec": UNIQUE, "keep": keep}),
        (9, "claim", {"worker": pick, "queue": queue, "limit": st.sampled_from((1, 2, 5, 20))}),
        (10, "close", {"pick": pick, "how": st.sampled_from(HOW)}),
        (
            3,
            "close_what_it_does_not_hold",
            {"pick": pick, "foreign": st.booleans(), "how": st.sampled_from(HOW)},
        ),
        (4, "advance", {"seconds": st.sampled_from((1.0, 5.0, 10.0, 31.0))}),
        (2, "fall_silent", {"pick": pick}),
        (1, "rescue", {}),
        (1, "beat", {"pick": pick}),
        (1, "stop", {"pick": pick}),
        (2, "register", {}),
        (3, "cancel", {"pick": pick}),
        (2, "replay", {"pick": pick}),
        (1, "run_now", {"pick": pick}),
        (1, "pause_or_resume", {"queue": queue}),
    ]
    return st.one_of(
        [
            st.builds(Step, st.just(call), st.fixed_dictionaries(arguments))
            for weight, call, arguments in weighted
            for _ in range(weight)
        ]
    )


class QueueSession:
    """One connection to a prepared database, driven from synchronous code."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._connection: Connection = self._runner.run(connect(url, application_name="model"))
        self.execute(STOP_THE_CLOCK)
        self.execute(PREPARE)
        self.queue_ids = {
            row["queue_name"]: row["queue_id"] for row in self.fetch("select * from queues.queue")
        }

    def close(self) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()

    def execute(self, statement: str) -> None:
        self._runner.run(self._connection.execute(statement))

    def fetch(self, statement: str, *arguments: Any) -> list[Record]:  # a statement takes any value
        return self._runner.run(self._connection.fetch(statement, *arguments))

    def value(self, statement: str, *arguments: Any) -> Any:  # the driver does not know the type either
        return self._runner.run(self._connection.fetchval(statement, *arguments))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("begin")
        try:
            yield
        except BaseException:
            self.execute("rollback")
            raise
        self.execute("commit")


@contextmanager
def opened(url: str) -> Iterator[QueueSession]:
    session = QueueSession(url)
    try:
        yield session
    finally:
        session.execute(RESET)
        session.close()


@dataclass(frozen=True, slots=True)
class Taken:
    """One row that a claim returned."""

    lease_id: int
    task_id: int
    lane: int
    seq: int

    @property
    def priority_class(self) -> int:
        return priority_class(self.lane)


def at(seconds: float) -> datetime:
    """The database's name for a time of the model."""
    return START + timedelta(seconds=seconds)


def priority_class(lane: int) -> int:
    """0 is the return lane, p + 1 is priority p."""
    return lane >> 40 & 63


class QueueMachine(RuleBasedStateMachine):
    """Every rule makes one call, tells the model, and the invariants compare."""

    def __init__(self, session: QueueSession) -> None:
        super().__init__()
        self.db = session
        self.model = Model()
        self.db.execute(RESET)
        self._set_clock(0)

    @initialize(specs=st.lists(SPECS, min_size=2, max_size=6))
    def start(self, specs: list[Spec]) -> None:
        for _ in range(WORKERS):
            self._register()
        for spec in specs:
            self._enqueue(spec)

    @rule(step=steps())
    def step(self, step: Step) -> None:
        getattr(self, step.call)(**step.arguments)

    def enqueue(self, spec: Spec, keep: bool) -> None:
        self._enqueue(spec, keep=keep)

    def claim(self, worker: int, queue: str, limit: int) -> None:
        self._claim(self._pick_worker(worker), self._busy(queue), limit)

    def close(self, pick: int, how: str) -> None:
        if not self.model.leases:
            self._claim(self._pick_worker(pick), self._busy(QUEUES[0]), 5)
        if self.model.leases:
            self._close(how, *self._pick_leases(pick, 1 + pick % 3))

    def close_what_it_does_not_hold(self, pick: int, foreign: bool, how: str) -> None:
        """A worker that comes late, or twice, or that was lost, or names another worker's lease."""
        closed = self.model.closed_leases
        if not foreign and closed:
            worker_id, lease_id = closed[-1 - pick % len(closed)]
            self._close(how, worker_id, [lease_id])
        elif self.model.leases:
            owner, leases = self._pick_leases(pick, 1)
            others = [worker_id for worker_id in sorted(self.model.workers) if worker_id != owner]
            self._close(how, others[pick % len(others)], leases)

    def advance(self, seconds: float) -> None:
        self._set_clock(self.model.now + seconds)

    def fall_silent(self, pick: int) -> None:
        """The other workers beat, this one does not, and its lease runs out."""
        self._set_clock(self.model.now + LEASE_SECONDS / 2)
        alive = [worker for worker in self.model.workers.values() if worker.alive]
        for number, worker in enumerate(alive):
            if number != pick % len(alive):
                self._beat(worker)
        self._set_clock(self.model.now + LEASE_SECONDS / 2 + 1)
        self._rescue()

    def rescue(self) -> None:
        self._rescue()

    def beat(self, pick: int) -> None:
        self._beat(self._pick_worker(pick, dead_too=True))

    def stop(self, pick: int) -> None:
        self._stop(self._pick_worker(pick, dead_too=True))

    def register(self) -> None:
        if sum(worker.alive for worker in self.model.workers.values()) <= WORKERS:
            self._register()

    def cancel(self, pick: int) -> None:
        running = [task for task in self.model.tasks.values() if task.place == "running"]
        task = running[pick % len(running)] if running and pick % 2 else self._pick_task(pick)
        said = self.db.value("select queues.cancel_task($1)", task.task_id)
        assert said == self.model.cancel(task), f"cancel of task {task.task_id} said {said}"

    def replay(self, pick: int) -> None:
        dead = [task for task in self.model.tasks.values() if task.place == "dead"]
        for task in dead[pick % len(dead) :][:2] if dead else []:
            statement = "select queues.replay(array[$1::bigint])"
            assert self.db.value(statement, task.task_id) == [task.task_id]
            self.model.replay(task)
            assert self.db.value(statement, task.task_id) == [], f"task {task.task_id} was replayed twice"

    def run_now(self, pick: int) -> None:
        waiting = [task for task in self.model.tasks.values() if task.place == "waiting"]
        task = waiting[pick % len(waiting)] if waiting else self._pick_task(pick)
        assert self.db.value("select queues.run_now($1)", task.task_id) == self.model.run_now(task)

    def pause_or_resume(self, queue: str) -> None:
        if queue in self.model.paused:
            self.db.value("select queues.resume($1)", queue)
            self.model.paused.remove(queue)
        else:
            self.db.value("select queues.pause($1)", queue)
            self.model.paused.add(queue)

    # --- what holds after every step

    @invariant()
    def promises_hold(self) -> None:
        broken = self.db.fetch("select promise, broken from queues.audit_invariants()")
        assert not broken, f"the audit found: {[(row['promise'], row['broken']) for row in broken]}"

    @invariant()
    def every_task_is_where_it_must_be(self) -> None:
        found: dict[int, Record] = {}
        for row in self.db.fetch(PLACES):
            assert row["task_id"] not in found, f"task {row['task_id']} is in two places"
            assert row["task_id"] in self.model.tasks, f"task {row['task_id']} was never accepted"
            found[row["task_id"]] = row
        for task in self.model.tasks.values():
            self._compare(task, found.get(task.task_id))
        self._check_slots(found)

    @invariant()
    def every_lease_is_closed_once_and_as_the_model_says(self) -> None:
        told: dict[int, Counter[str]] = defaultdict(Counter)
        for row in self.db.fetch(OUTCOMES):
            assert row["times"] == row["leases"], f"a lease of task {row['task_id']} was closed twice"
            told[row["task_id"]][row["outcome"]] = row["times"]
        for task in self.model.tasks.values():
            assert told[task.task_id] == task.outcomes, (
                f"task {task.task_id} has attempts {dict(told[task.task_id])}, not {dict(task.outcomes)}"
            )
            assert task.outcomes["completed"] <= 1

    @invariant()
    def effects_are_written_once(self) -> None:
        twice = self.db.value(
            "select task_id from public.effect group by task_id having count(*) > 1 limit 1"
        )
        assert twice is None, f"the effect of task {twice} was written twice"

    def teardown(self) -> None:
        if sys.exc_info()[0] is None and self.model.workers:
            self._drain()

    # --- calls

    def _set_clock(self, seconds: float) -> None:
        self.model.now = seconds
        self.db.fetch("update internal.test_clock set at = $1", at(seconds))

    def _register(self) -> Worker:
        worker_id = self.db.value(
            "select queues.register_worker('model', $1, $2)", list(QUEUES), timedelta(seconds=LEASE_SECONDS)
        )
        worker = Worker(worker_id, self.model.now)
        self.model.workers[worker_id] = worker
        return worker

    def _enqueue(self, spec: Spec, *, keep: bool = True) -> None:
        self.db.execute("begin")
        keyed = spec.unique_key is not None or spec.limit_key is not None
        task_ids: list[int] = self.db.value(
            """
            select queues.enqueue_many(
              $1, array_fill('{}'::jsonb, $2), _delay => $3, _queue => $4, _priority => $5, _tenant_id => $6,
              _unique_keys => case when $7 then array_fill($8::text, $2) end, _on_duplicate => $9,
              _limit_keys => case when $7 then array_fill($10::text, $2) end, _time_limit => $11)
            """,
            spec.task_type,
            [spec.count],
            timedelta(seconds=spec.delay) if spec.delay else None,
            spec.queue,
            spec.priority,
            None if spec.tenant is None else TENANTS[spec.tenant],
            keyed,
            spec.unique_key,
            spec.mode,
            spec.limit_key,
            None if spec.time_limit is None else timedelta(seconds=spec.time_limit),
        )
        if not keep:
            self.db.execute("rollback")
            return
        self.db.execute("commit")
        assert len(set(task_ids)) == spec.count
        for task_id in task_ids:
            assert task_id not in self.model.tasks
            self.model.enqueue(spec.task(task_id, self.model.now))

    def _claim(self, worker: Worker, queue: str, limit: int) -> list[Taken]:
        statement = "select lease_id, task_id, lane, seq from queues.claim($1, $2, $3)"
        if not worker.alive:
            self._refused("PS009", statement, worker.worker_id, queue, limit)
            return []
        rows = self.db.fetch(statement, worker.worker_id, queue, limit)
        taken = [Taken(row["lease_id"], row["task_id"], row["lane"], row["seq"]) for row in rows]
        if queue in self.model.paused:
            assert not taken, "a paused queue was claimed"
            return []
        self.model.admit(queue)
        for one in taken:
            assert self.model.tasks[one.task_id].queue == queue
            self.model.claimed(worker.worker_id, one.lease_id, one.task_id)
        left = self.db.fetch(
            "select lane, seq from queues.ready where lane >> 46 = $1 order by lane, seq",
            self.db.queue_ids[queue],
        )
        _check_order(limit, taken, [(row["lane"], row["seq"]) for row in left])
        self._check_slots_are_used(queue)
        return taken

    def _complete(self, worker_id: int, leases: list[int], *, here: bool) -> None:
        mine = self.model.held_by(worker_id, leases)
        if not here:
            closed = self.db.value("select queues.complete($1, $2)", worker_id, leases)
            assert sorted(closed) == [task.lease_id for task in mine], f"complete closed {closed}"
            self.db.fetch(
                "insert into public.effect select unnest($1::bigint[])", [task.task_id for task in mine]
            )
        else:
            for lease_id in leases:
                self._complete_here(worker_id, lease_id, lease_id in [task.lease_id for task in mine])
        for task in mine:
            self.model.complete(task)

    def _complete_here(self, worker_id: int, lease_id: int, held: bool) -> None:
        """The effect and the close in one transaction: both or neither."""
        task_id = self.model.leases.get(lease_id, 0)
        refusal: str | None = None
        try:
            with self.db.transaction():
                self.db.fetch("insert into public.effect values ($1)", task_id)
                self.db.value("select queues.complete_here($1, $2)", worker_id, lease_id)
        except asyncpg.PostgresError as error:
            refusal = error.sqlstate
        assert refusal == (None if held else "PS006"), f"lease {lease_id}, held: {held}, got {refusal}"

    def _close(self, how: str, worker_id: int, leases: list[int]) -> None:
        mine = self.model.held_by(worker_id, leases)
        held = [task.lease_id for task in mine]
        match how:
            case "complete" | "complete_here":
                self._complete(worker_id, leases, here=how == "complete_here")
            case "fail" | "fail_for_good":
                final = how == "fail_for_good"
                rows = self.db.fetch(
                    """
                    select lease_id, outcome, retry_at
                    from queues.fail($1, $2, array_fill('E'::text, $3), array_fill('it broke'::text, $3),
                      _final => array_fill($4::boolean, $3))
                    """,
                    worker_id,
                    leases,
                    [len(leases)],
                    final,
                )
                told = {row["lease_id"]: (row["outcome"], row["retry_at"]) for row in rows}
                for lease_id in leases:
                    if lease_id not in held:
                        assert told[lease_id] == ("gone", None)
                for task in mine:
                    lease_id = task.lease_id or 0
                    outcome, due = self.model.fail(task, final=final)
                    expected = (outcome, None if due is None else at(due))
                    assert told[lease_id] == expected, f"fail said {told[lease_id]}, not {expected}"
            case "snooze" | "snooze_on":
                seconds = 7.0 if how == "snooze_on" else 0.0
                closed = self.db.value(
                    "select queues.snooze($1, $2, array_fill($3::double precision, $4))",
                    worker_id,
                    leases,
                    seconds,
                    [len(leases)],
                )
                assert closed == held, f"snooze closed {closed}"
                for task in mine:
                    self.model.snooze(task, seconds)
            case "release":
                closed = self.db.value("select queues.release($1, $2)", worker_id, leases)
                self._released(closed, held)
            case "cancel":
                closed = self.db.value("select queues.close_cancelled($1, $2)", worker_id, leases)
                assert sorted(closed) == held, f"close_cancelled closed {closed}"
                for task in mine:
                    self.model.close_cancelled(task)

    def _released(self, closed: list[int], held: list[int | None]) -> None:
        assert sorted(closed) == held, f"release closed {closed}"
        for lease_id in closed:
            self.model.release(self.model.tasks[self.model.leases[lease_id]])

    def _beat(self, worker: Worker) -> None:
        statement = "select lease_id from queues.beat($1)"
        if not worker.alive:
            self._refused("PS009", statement, worker.worker_id)
            return
        asked = {row["lease_id"] for row in self.db.fetch(statement, worker.worker_id)}
        worker.beat = self.model.now
        for task in self.model.running_on(worker.worker_id):
            assert (task.lease_id in asked) == (task.task_id in self.model.cancels)

    def _rescue(self) -> None:
        rows = self.db.fetch("select task_id, outcome from queues.rescue()")
        self.model.mark_lost()
        assert len(rows) == len({row["task_id"] for row in rows})
        taken = {row["task_id"] for row in rows}
        assert taken == self.model.overdue(), f"rescue took {taken}, not {self.model.overdue()}"
        for row in rows:
            outcome = self.model.lose(self.model.tasks[row["task_id"]])
            assert row["outcome"] == outcome, f"rescue of task {row['task_id']} said {row['outcome']}"

    def _stop(self, worker: Worker) -> None:
        tasks = self.model.running_on(worker.worker_id)
        closed = self.db.fetch("select queues.stop_worker($1) as closed", worker.worker_id)[0]["closed"]
        worker.stopped = True
        assert closed == len(tasks)
        # In which order they went back only the tickets tell.
        seqs = {row["task_id"]: row["seq"] or 0 for row in self.db.fetch(PLACES)}
        for task in sorted(tasks, key=lambda task: seqs.get(task.task_id, 0)):
            self.model.release(task)

    def _refused(self, sqlstate: str, statement: str, *arguments: Any) -> None:  # as for fetch
        refusal: str | None = None
        try:
            self.db.fetch(statement, *arguments)
        except asyncpg.PostgresError as error:
            refusal = error.sqlstate
        assert refusal == sqlstate, f"a lost or stopped worker got {refusal} from {statement}"

    # --- choices

    def _busy(self, queue: str) -> str:
        """The queue asked for, or the other one when there is nothing to claim in it."""
        pending = {task.queue for task in self.model.tasks.values() if task.place in ("waiting", "admitted")}
        return queue if queue in pending or not pending else min(pending)

    def _pick_worker(self, pick: int, *, dead_too: bool = False) -> Worker:
        """Mostly a living one."""
        alive = [worker for worker in self.model.workers.values() if worker.alive]
        everyone = list(self.model.workers.values())
        choice = everyone if dead_too or pick % 10 == 9 or not alive else alive
        return choice[pick % len(choice)]

    def _pick_leases(self, pick: int, count: int) -> tuple[int, list[int]]:
        """Some leases of one worker, newest first."""
        leases = sorted(self.model.leases, reverse=True)
        worker_id = self.model.tasks[self.model.leases[leases[pick % len(leases)]]].worker_id
        assert worker_id is not None
        mine = [
            lease for lease in leases if self.model.tasks[self.model.leases[lease]].worker_id == worker_id
        ]
        return worker_id, [mine[(pick + n) % len(mine)] for n in range(min(count, len(mine)))]

    def _pick_task(self, pick: int) -> Task:
        """Mostly one that is not over."""
        tasks = list(self.model.tasks.values())
        alive = [task for task in tasks if task.place not in ("ended", "dead")]
        choice = tasks if pick > 90 or not alive else alive
        return choice[pick % len(choice)]

    # --- comparisons

    def _compare(self, task: Task, row: Record | None) -> None:
        where = None if row is None else row["place"]
        name = f"task {task.task_id}, {task.place} in the model,"
        if task.place == "ended":
            assert row is None, f"{name} is over and yet in {where}"
            return
        assert row is not None, f"{name} is lost"
        match task.place:
            case "waiting":
                assert where == "waiting", f"{name} is in {where}"
                assert row["due_at"] == at(task.due), f"{name} is due at {row['due_at']}"
            case "admitted":
                allowed = ("ready",) if task.limit_key is None else ("ready", "parked")
                assert where in allowed, f"{name} is in {where}"
                if where == "ready":
                    back = SUSPECTS if task.losses >= 2 else 0
                    expected = back if task.returned else task.priority + 1
                    assert priority_class(row["lane"]) == expected, f"{name} is in the wrong lane"
            case "parked":
                assert where == "parked", f"{name} is in {where}"
            case "running":
                assert where == "lease", f"{name} is in {where}"
                assert (row["worker_id"], row["lease_id"]) == (task.worker_id, task.lease_id)
            case "dead":
                assert where == "dead", f"{name} is in {where}"
                assert row["reason"] == task.reason, f"{name} died as {row['reason']}"
        assert row["failures"] == task.failures, f"{name} has {row['failures']} failures, not {task.failures}"
        assert row["losses"] == task.losses, f"{name} has {row['losses']} losses, not {task.losses}"

    def _check_slots(self, found: dict[int, Record]) -> None:
        """At most one running task a unique key, at most N a limit key."""
        unique: Counter[UniqueKey] = Counter()
        limited: Counter[tuple[str, str]] = Counter()
        for task_id, row in found.items():
            task = self.model.tasks[task_id]
            if row["place"] == "lease" and task.unique_key is not None:
                unique[task.unique_key] += 1
            if row["place"] in ("lease", "ready") and task.limit_key is not None:
                limited[task.queue, task.limit_key] += 1
        assert all(count <= 1 for count in unique.values()), f"a unique key runs twice: {unique}"
        assert all(count <= SLOTS[key] for (_, key), count in limited.items()), f"too many slots: {limited}"

    def _check_slots_are_used(self, queue: str) -> None:
        """No task stays behind a limit key that has a free slot, once what was freed is handed over."""
        if self.db.value("select count(*) from queues.freed where queue_id = $1", self.db.queue_ids[queue]):
            return
        used: Counter[str] = Counter()
        behind: Counter[str] = Counter()
        for row in self.db.fetch(PLACES):
            task = self.model.tasks[row["task_id"]]
            if task.queue != queue or task.limit_key is None:
                continue
            if row["place"] in ("lease", "ready"):
                used[task.limit_key] += 1
            elif row["place"] == "parked" and task.place == "admitted":
                behind[task.limit_key] += 1
        for key, count in behind.items():
            assert used[key] == SLOTS[key], f"{count} tasks wait behind {key!r}, which runs {used[key]}"

    # --- liveness

    def _drain(self) -> None:
        """With time and one honest worker everything ends, and no key stays held."""
        for queue in sorted(self.model.paused):
            self.db.value("select queues.resume($1)", queue)
        self.model.paused.clear()
        for _ in range(DRAIN_ROUNDS):
            self._set_clock(self.model.now + 60)
            self._rescue()
            worker = self._register()
            for queue in QUEUES:
                taken = self._claim(worker, queue, 100)
                self._complete(worker.worker_id, [one.lease_id for one in taken], here=False)
            self.promises_hold()
            if all(task.place in ("ended", "dead") for task in self.model.tasks.values()):
                break
        else:
            left = [task for task in self.model.tasks.values() if task.place not in ("ended", "dead")]
            raise AssertionError(f"{len(left)} tasks never end: {left}")
        self.every_task_is_where_it_must_be()
        self.every_lease_is_closed_once_and_as_the_model_says()
        self.effects_are_written_once()
        for queue in QUEUES:
            self.db.value("select queues.admit($1::smallint)", self.db.queue_ids[queue])
        left_over = self.db.value(
            "select (select count(*) from queues.held) + (select count(*) from queues.parked)"
            " + (select count(*) from queues.freed) + (select count(*) from queues.waiting)"
        )
        assert left_over == 0, f"{left_over} rows of keys stay behind"


def machine_of(session: QueueSession) -> type[QueueMachine]:
    """The machine over this session; hypothesis makes a new one for each example."""

    class Machine(QueueMachine):
        def __init__(self) -> None:
            super().__init__(session)

    return Machine


SUSPECTS = 63
"""The class of tasks that two workers were lost with."""


def _check_order(limit: int, taken: list[Taken], left: list[tuple[int, int]]) -> None:
    """One suspect; the return lane, to half of the rest; then by priority; within a lane as they came."""
    assert len(taken) <= limit, f"a claim of {limit} gave {len(taken)}"
    suspects = [one for one in taken if one.priority_class == SUSPECTS]
    assert len(suspects) <= 1, f"a claim gave {len(suspects)} suspects"
    limit -= len(suspects)
    taken = [one for one in taken if one.priority_class != SUSPECTS]
    left = [(lane, seq) for lane, seq in left if priority_class(lane) != SUSPECTS]
    if left:
        assert len(taken) == limit, f"a claim of {limit} gave {len(taken)} while {len(left)} were ready"
    first_left: dict[int, int] = {}
    for lane, seq in left:
        first_left.setdefault(lane, seq)
    for one in taken:
        assert one.seq < first_left.get(one.lane, sys.maxsize), f"{one} overtook {first_left[one.lane]}"
    fresh = [one.priority_class for one in taken if one.priority_class > 0]
    fresh_left = [priority_class(lane) for lane, _ in left if priority_class(lane) > 0]
    if fresh and fresh_left:
        assert max(fresh) <= min(fresh_left), f"classes {fresh} were taken before {fresh_left}"
    returned = len(taken) - len(fresh)
    returned_left = len(left) - len(fresh_left)
    half = max(1, limit // 2)
    if fresh or fresh_left:
        assert returned >= min(half, returned + returned_left), "the return lane did not come first"
        if fresh_left:
            assert returned <= half, f"the return lane took {returned} of {limit}"
