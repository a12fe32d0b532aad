"""A filled queue and every state-changing call as an action on it, for sessions that collide."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg

from penstock.db import Connection
from penstock.db.connect import connect
from tests.plugins.database import Database

QUEUE = "q"
REFUSALS = {"PS006", "PS007", "PS008", "PS009"}
"""What a call may answer when the other session was first."""

# For each round: a silent worker with three leases (a plain task, one with a unique key and a follower parked
# behind it, one with a limit key and another parked behind that), two ready tasks, a delayed one, a dead one,
# one dequeued by a simple worker, a schedule, and a worker that was lost days ago. The leases lie in the heap
# against the order of their ids.
STOCK = """
create function public.stock(_rounds integer) returns jsonb language plpgsql as $$
declare
  v_rounds jsonb[] := '{}';
  v_worker integer;
  v_old integer;
  v_helper integer := queues.register_worker('helper', array['q'], interval '1 day');
  v_leased jsonb;
  v_dead bigint;
  v_dequeued bigint;
  v_parked bigint[];
  v_table text;
begin
  perform queues.put_task_type('job', 'q', _retry => '{"default": {"kind": "table", "delays": [0, 0, 60]}}');
  perform queues.put_limits('q', 'each_key', null, 1);
  for r in 1.._rounds loop
    v_worker := queues.register_worker('silent', array['q'], interval '1 second');
    perform queues.enqueue('job');
    perform queues.enqueue('job', _unique_key => 'u' || r, _on_duplicate => 'coalesce');
    perform queues.enqueue('job', _limit_key => 'l' || r);
    select jsonb_agg(c.lease_id order by c.lease_id) into v_leased from queues.claim(v_worker, 'q', 10) c;
    v_parked := array[
      queues.enqueue('job', _unique_key => 'u' || r, _on_duplicate => 'coalesce'),
      queues.enqueue('job', _limit_key => 'l' || r)];
    v_dead := queues.enqueue('job');
    perform queues.fail(v_helper, array[c.lease_id], array['E'], array['broken'], _final => array[true])
    from queues.claim(v_helper, 'q', 10) c;
    perform queues.enqueue('job');
    select d.task_id into v_dequeued from queues.dequeue_next_available_task() d;
    v_old := queues.register_worker('old', array['q'], interval '1 second');
    perform queues.go_idle(v_worker, 'q', true), queues.go_idle(v_old, 'q', true);
    update queues.worker set lost_at = now() - interval '2 days' where worker_id = v_old;
    perform queues.put_schedule('s' || r, '* * * * *', 'UTC', '2020-01-01', 'job');
    v_rounds := v_rounds || jsonb_build_object(
      'number', r, 'worker', v_worker, 'leases', v_leased, 'parked', v_parked, 'dead', v_dead, 'old', v_old,
      'dequeued', v_dequeued,
      'running', array(select l.task_id from queues.lease l where l.worker_id = v_worker order by 1));
  end loop;
  for r in 1.._rounds loop
    v_rounds[r] := v_rounds[r] || jsonb_build_object(
      'ready', array[queues.enqueue('job', _priority => 0), queues.enqueue('job', _priority => 0)],
      'delayed', queues.enqueue('job', _delay => interval '1 hour'));
  end loop;
  update queues.worker set beat_at = now() - interval '1 hour' where worker_name = 'silent';
  create schema stash;
  for v_table in select c.relname from pg_class c
    where c.relnamespace = 'queues'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('partition', 'audit')
  loop
    execute format('create table stash.%I as select * from queues.%I order by 1 desc', v_table, v_table);
  end loop;
  return to_jsonb(v_rounds);
end;
$$;
"""

RESTOCK = """
create function public.restock() returns void language plpgsql as $$
declare
  v_table text;
begin
  for v_table in select c.relname from pg_class c where c.relnamespace = 'stash'::regnamespace loop
    execute format('delete from queues.%I', v_table);
    execute format('insert into queues.%I overriding system value select * from stash.%I', v_table, v_table);
  end loop;
end;
$$;
"""


@dataclass(frozen=True, slots=True)
class Round:
    """What the two sessions of one round fight over."""

    number: int
    worker: int
    old: int
    leases: list[int]
    running: list[int]
    ready: list[int]
    parked: list[int]
    delayed: int
    dead: int
    dequeued: int


@dataclass(frozen=True, slots=True)
class Session:
    """One of two connections; the second names things in the opposite order and claims as another worker."""

    connection: Connection
    worker: int
    backwards: bool

    def order(self, items: Sequence[int]) -> list[int]:
        return list(reversed(items)) if self.backwards else list(items)

    async def call(self, function: str, *arguments: object) -> None:
        places = ", ".join(f"${n}" for n in range(1, len(arguments) + 1))
        await self.connection.fetch(f"select queues.{function}({places})", *arguments)


Call: TypeAlias = Callable[[Session, Round], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Action:
    """A call. One that never waits may come before or after any other in a transaction, but for this: of two
    that take many leases at once each may get a part, so no transaction should do both."""

    name: str
    call: Call
    never_waits: bool = False
    many_leases: bool = False

    def goes_with(self, other: Action) -> bool:
        """Whether a transaction may make both calls, in any order."""
        return (self.never_waits or other.never_waits) and not (self.many_leases and other.many_leases)


async def enqueue_keyed(session: Session, now: Round) -> None:
    unique = [f"u{number}" for number in session.order([now.number, now.number + 1, now.number + 2])]
    await session.connection.fetch(
        "select queues.enqueue_many('job', $1, _on_duplicate => 'replace',"
        " _unique_keys => $2, _limit_keys => $3)",
        ["{}"] * 3,
        unique,
        [f"l{now.number}", None, f"l{now.number + 1}"],
    )


async def claim(session: Session, now: Round) -> None:
    await session.call("claim", session.worker, QUEUE, 3)


async def complete(session: Session, now: Round) -> None:
    await session.call("complete", now.worker, session.order(now.leases))


async def complete_here(session: Session, now: Round) -> None:
    """As a handler does: in a transaction of its own, closing last."""
    if session.connection.is_in_transaction():
        await session.call("complete_here", now.worker, now.leases[now.number % 3])
        return
    async with session.connection.transaction():
        await session.connection.execute("select 1")
        await session.call("complete_here", now.worker, now.leases[now.number % 3])


async def fail(session: Session, now: Round) -> None:
    await session.call("fail", now.worker, session.order(now.leases), ["E"] * 3, ["broken"] * 3)


async def snooze(session: Session, now: Round) -> None:
    await session.call("snooze", now.worker, session.order(now.leases), [0.0, 60.0, 0.0])


async def release(session: Session, now: Round) -> None:
    await session.call("release", now.worker, session.order(now.leases))


async def close_cancelled(session: Session, now: Round) -> None:
    await session.call("close_cancelled", now.worker, session.order(now.leases))


async def rescue(session: Session, now: Round) -> None:
    await session.call("rescue", 3)


async def cancel_task(session: Session, now: Round) -> None:
    everywhere = [*now.ready, *now.parked, *now.running, now.delayed, now.dead]
    await session.call("cancel_task", everywhere[now.number % len(everywhere)])


async def replay(session: Session, now: Round) -> None:
    await session.call("replay", [now.dead])


async def run_now(session: Session, now: Round) -> None:
    await session.call("run_now", now.delayed)


async def put_limits(session: Session, now: Round) -> None:
    scope, key = (("each_key", None), ("key", f"l{now.number}"), ("queue", None))[now.number % 3]
    await session.call("put_limits", QUEUE, scope, key, 1 if scope != "queue" else 1000)


async def pause(session: Session, now: Round) -> None:
    await session.call("pause", QUEUE)


async def resume(session: Session, now: Round) -> None:
    await session.call("resume", QUEUE)


async def maintain(session: Session, now: Round) -> None:
    await session.call("maintain")


async def beat(session: Session, now: Round) -> None:
    await session.call("beat", now.worker if now.number % 2 else session.worker)


async def stop_worker(session: Session, now: Round) -> None:
    await session.call("stop_worker", now.worker if now.number % 2 else now.old)


async def go_idle(session: Session, now: Round) -> None:
    await session.call("go_idle", now.worker if now.number % 2 else now.old, QUEUE, session.backwards)


async def fire_schedule(session: Session, now: Round) -> None:
    await session.connection.fetch(
        "select queues.fire_schedule($1, s.next_at, s.next_at + interval '1 minute')"
        " from queues.schedule s where s.schedule_name = $1",
        f"s{now.number}",
    )


async def dequeue(session: Session, now: Round) -> None:
    await session.call("dequeue_next_available_task")


async def complete_task(session: Session, now: Round) -> None:
    await session.call("complete_task", now.dequeued)


ACTIONS = (
    Action("enqueue_many", enqueue_keyed, never_waits=True),
    Action("claim", claim, never_waits=True),
    Action("rescue", rescue, never_waits=True, many_leases=True),
    Action("replay", replay, never_waits=True),
    Action("fire_schedule", fire_schedule, never_waits=True),
    Action("dequeue_next_available_task", dequeue, never_waits=True, many_leases=True),
    Action("complete", complete, many_leases=True),
    Action("complete_here", complete_here),
    Action("fail", fail, many_leases=True),
    Action("snooze", snooze, many_leases=True),
    Action("release", release, many_leases=True),
    Action("close_cancelled", close_cancelled, many_leases=True),
    Action("cancel_task", cancel_task),
    Action("run_now", run_now),
    Action("put_limits", put_limits),
    Action("pause", pause),
    Action("resume", resume),
    Action("maintain", maintain),
    Action("beat", beat),
    Action("stop_worker", stop_worker, many_leases=True),
    Action("go_idle", go_idle),
    Action("complete_task", complete_task),
)


@asynccontextmanager
async def quick_to_see_deadlocks(database: Database, name: str) -> AsyncIterator[Connection]:
    """A connection that notices a deadlock after 50 ms and gives up a wait that does not end."""
    connection = await connect(
        database.admin_url,
        application_name=name,
        server_settings={"deadlock_timeout": "50ms", "statement_timeout": "20s"},
    )
    try:
        yield connection
    finally:
        await connection.close()


async def stock(connection: Connection, rounds: int) -> list[Round]:
    await connection.execute(STOCK)
    await connection.execute(RESTOCK)
    return [Round(**one) for one in json.loads(await connection.fetchval("select public.stock($1)", rounds))]


async def transact(session: Session, now: Round, calls: Sequence[Call]) -> str | None:
    """Make the calls, several in one transaction; the SQLSTATE when it was refused or a deadlock's victim."""
    try:
        if len(calls) == 1:
            await calls[0](session, now)
        else:
            async with session.connection.transaction():
                for call in calls:
                    await call(session, now)
    except asyncpg.PostgresError as error:
        return error.sqlstate
    return None


async def until_it_waits(watcher: Connection, waiting: asyncio.Task[Any], name: str) -> None:
    """Return when the session of that name waits for a lock of another; fail when its call ends instead."""
    while not await watcher.fetchval(
        "select exists (select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'"
        " and datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0)",
        name,
    ):
        assert not waiting.done(), f"{name} did not wait: {waiting}"
