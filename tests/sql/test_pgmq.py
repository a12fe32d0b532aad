"""pgmq: a message moves in one transaction, whatever the version; the wrappers give up after five reads."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from penstock.db import Connection
from penstock.db.pgmq import prepare_queue
from penstock.errors import Conflict, NotFound
from tests.plugins.database import Database
from tests.plugins.pgmq import VERSIONS, Version, add_queue, install, send
from tests.sql.queue_calls import Calls, calls, rows

TOO_LARGE = json.dumps({"a": "x" * (17 * 1024 * 1024)})


async def move(connection: Connection, limit: int = 100) -> tuple[int, int, int]:
    (row,) = await connection.fetch("select * from queues.take_from_pgmq('orders', $1)", limit)
    return row["received"], row["taken"], row["refused"]


async def left(queue: Calls) -> tuple[int, int, int]:
    """Messages in the queue, in the archive, and tasks."""
    tables = ("pgmq.q_orders", "pgmq.a_orders", "queues.task")
    counts = [await queue.admin.fetchval(f"select count(*) from {table}") for table in tables]
    return counts[0], counts[1], counts[2]


@pytest.mark.parametrize("version", VERSIONS)
async def test_messages_of_every_version_become_tasks_in_their_order_and_are_archived(
    database: Database, version: Version
) -> None:
    await add_queue(database, version=version)
    async with calls(database) as queue:
        await send(queue.admin, *(json.dumps({"n": n}) for n in range(5)))
        assert await move(queue.runtime, 3) == (3, 3, 0)
        assert await move(queue.operator, 3) == (2, 2, 0)
        assert await move(queue.runtime) == (0, 0, 0)
        assert await left(queue) == (0, 5, 5)
        payloads = await queue.admin.fetch("select payload from queues.task order by task_id")
        assert [json.loads(row["payload"])["n"] for row in payloads] == list(range(5))
        (inlet,) = await rows(queue.operator, "inlets")
        assert (inlet["received"], inlet["taken"], inlet["refused"]) == (5, 5, 0)


async def test_a_move_that_is_rolled_back_leaves_every_message_readable(database: Database) -> None:
    await add_queue(database)
    async with calls(database) as queue:
        await send(queue.admin, "{}", "{}")
        transaction = queue.runtime.transaction()
        await transaction.start()
        assert await move(queue.runtime) == (2, 2, 0)
        async with database.connect("runtime") as other:
            assert await move(other) == (0, 0, 0), "the other mover skips them"
        await transaction.rollback()
        assert await left(queue) == (2, 0, 0)
        assert await move(queue.runtime) == (2, 2, 0)


@pytest.mark.parametrize("version", VERSIONS)
async def test_bad_messages_are_archived_with_a_reason_and_can_be_replayed(
    database: Database, version: Version
) -> None:
    await add_queue(database, version=version)
    async with calls(database) as queue:
        await queue.put_type("job", required_keys=["n"])
        bad = ["5", "[1]", "null", "{}", TOO_LARGE]
        ids = await send(queue.admin, '{"n": 1}', *bad, '{"n": 2}')
        assert await move(queue.runtime) == (7, 2, 5)
        assert await left(queue) == (0, 7, 2)
        refused = {
            int(row["message_key"]): row["reason"]
            for row in await rows(queue.operator, "inlet_refusals", "orders")
        }
        assert refused == {
            ids[1]: "its payload is not a JSON object",
            ids[2]: "its payload is not a JSON object",
            ids[3]: "its payload is not a JSON object",
            ids[4]: "a payload of 'job' lacks 'n'",
            ids[5]: "it is larger than 16 MiB",
        }
        await queue.put_type("job")
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders', $1)", [ids[4]]) == 1
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders', $1)", [ids[4]]) == 0
        assert await move(queue.runtime) == (1, 1, 0)
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders')") == 4
        assert await left(queue) == (4, 3, 3)
        assert await rows(queue.operator, "inlet_refusals", "orders") == []


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_refusal_from_before_the_queue_was_created_again_replays_nothing_that_was_taken_since(
    database: Database, version: Version
) -> None:
    """Ids of pgmq begin again with the queue, and refusals are kept for 30 days."""
    await add_queue(database, version=version)
    async with calls(database) as queue:
        await queue.put_type()
        (old,) = await send(queue.admin, "[1]")
        assert await move(queue.runtime) == (1, 0, 1)
        await create_again(queue.admin, version)
        (taken, bad) = await send(queue.admin, '{"n": 1}', "[2]")
        assert taken == old
        assert await move(queue.runtime) == (2, 1, 1)
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders')") == 1
        again = await queue.admin.fetchval("select message from pgmq.q_orders")
        assert json.loads(again) == [2], "what was refused, and not what has the old refusal's id"
        assert await queue.admin.fetchval("select array_agg(msg_id) from pgmq.a_orders") == [taken]
        assert await left(queue) == (1, 1, 1)
        assert bad != taken


async def test_a_message_is_listed_as_refused_though_an_older_one_had_its_id(database: Database) -> None:
    await add_queue(database)
    async with calls(database) as queue:
        await queue.put_type("job", required_keys=["n"])
        (old,) = await send(queue.admin, "[1]")
        await move(queue.runtime)
        await create_again(queue.admin, "1.13.0")
        (new,) = await send(queue.admin, '{"m": 1}')
        assert new == old
        assert await move(queue.runtime) == (1, 0, 1)
        (refusal,) = await rows(queue.operator, "inlet_refusals", "orders")
        assert (refusal["message_key"], refusal["reason"]) == (str(new), "a payload of 'job' lacks 'n'")
        (inlet,) = await rows(queue.operator, "inlets")
        assert inlet["refused"] == 2
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders')") == 1


async def test_refusals_noted_by_an_earlier_release_can_be_replayed(database: Database) -> None:
    """It noted the time of the statement, which began a moment after the transaction that archived."""
    await add_queue(database)
    async with calls(database, real_time=True) as queue:
        await send(queue.admin, "[1]")
        await move(queue.runtime)
        await queue.admin.execute("update queues.inlet_refusal set at = at + interval '5 milliseconds'")
        assert await queue.operator.fetchval("select queues.replay_pgmq('orders')") == 1


async def create_again(admin: Connection, version: Version) -> None:
    """Drop the queue `orders` and create it, as its team does to empty it."""
    if version == "1.13.0":
        await admin.execute("select pgmq.drop_queue('orders')")
    else:
        await admin.execute("drop table pgmq.q_orders, pgmq.a_orders; delete from pgmq.meta")
    await admin.execute("select pgmq.create('orders')")
    await prepare_queue(admin, "orders", wrappers=False)


REJECT = """
create function queues.reject() returns trigger language plpgsql as $$
begin
  if new.payload ->> 'n' = '13' then
    {rejects};
  end if;
  return new;
end $$;
create trigger reject before insert on queues.task for each row execute function queues.reject();
"""


@pytest.mark.parametrize(
    ("rejects", "reason"),
    [
        ("raise exception 'no thirteen here'", "Postgres rejected it (P0001): no thirteen here"),
        (
            "raise check_violation using message = 'thirteen is out of range'",
            "Postgres rejected it (23514): thirteen is out of range",
        ),
        ("perform 1 / 0", "Postgres rejected it (22012): division by zero"),
    ],
)
@pytest.mark.parametrize("shape", ["payload", "envelope"])
async def test_a_message_that_postgres_rejects_is_refused_when_it_is_alone_and_holds_up_no_other(
    database: Database, shape: str, rejects: str, reason: str
) -> None:
    config = {"queue": "orders", "shape": shape} | ({"task_type": "job"} if shape == "payload" else {})
    await add_queue(database, config=json.dumps(config))
    async with calls(database) as queue:
        await queue.put_type()
        await queue.admin.execute(REJECT.replace("{rejects}", rejects))
        payloads: list[Any] = [{"n": n} for n in (13, 14, 15)]
        if shape == "envelope":
            payloads = [{"task_type": "job", "payload": each} for each in payloads]
        bad, *_ = await send(queue.admin, *(json.dumps(each) for each in payloads))
        with pytest.raises(asyncpg.PostgresError):
            await move(queue.runtime)
        assert await left(queue) == (3, 0, 0), "in a batch it may be another one's fault"
        assert await move(queue.runtime, 1) == (1, 0, 1)
        assert await move(queue.runtime) == (2, 2, 0)
        (refusal,) = await rows(queue.operator, "inlet_refusals", "orders")
        assert (refusal["message_key"], refusal["reason"]) == (str(bad), reason)
        assert await queue.admin.fetchval("select count(*) from pgmq.a_orders where msg_id = $1", bad) == 1


@pytest.mark.parametrize(
    "sqlstate", ["08006", "25006", "40001", "40P01", "42501", "53100", "55P03", "57014", "58030", "XX000"]
)
async def test_no_message_is_blamed_for_what_is_wrong_with_the_server(
    database: Database, sqlstate: str
) -> None:
    await add_queue(database)
    async with calls(database) as queue:
        await queue.put_type()
        await queue.admin.execute(
            REJECT.replace("{rejects}", f"raise exception 'away' using errcode = '{sqlstate}'")
        )
        await send(queue.admin, '{"n": 13}')
        with pytest.raises(asyncpg.PostgresError) as failed:
            await move(queue.runtime, 1)
        assert failed.value.sqlstate == sqlstate
        await queue.admin.execute("drop trigger reject on queues.task")
        assert await move(queue.runtime, 1) == (1, 1, 0)


async def test_a_queue_that_was_dropped_and_created_again_is_named_until_it_is_added_again(
    database: Database,
) -> None:
    """Its new tables give Penstock no rights; what was sent to it waits."""
    await add_queue(database, version="1.13.0")
    async with calls(database) as queue:
        for change in ("drop_queue", "create"):
            await queue.admin.execute(f"select pgmq.{change}('orders')")
            with pytest.raises(asyncpg.PostgresError, match="it was created again") as caught:
                await move(queue.runtime)
            assert caught.value.sqlstate == "PS013"
            assert caught.value.hint is not None
            assert caught.value.hint.endswith("penstock inlet add pgmq orders")
        await send(queue.admin, "{}")
        await prepare_queue(queue.admin, "orders", wrappers=False)
        assert await move(queue.runtime) == (1, 1, 0)


async def test_an_envelope_names_its_type_and_its_tenant(database: Database) -> None:
    await add_queue(database, config='{"queue": "orders", "shape": "envelope"}')
    async with calls(database) as queue:
        tenant = await add_tenant(queue)
        await send(
            queue.admin,
            '{"task_type": "job", "payload": {"n": 1}, "tenant": "acme", "priority": 1}',
            '{"task_type": "job", "payload": {"n": 1}, "tenant": "nobody"}',
            '{"payload": {}}',
        )
        assert await move(queue.runtime) == (3, 1, 2)
        (task,) = await queue.admin.fetch("select * from queues.task")
        assert (task["tenant_id"], task["priority"]) == (tenant, 1)
        assert await queue.admin.fetchval("select count(*) from accounts.tenant") == 1


async def test_an_envelope_of_another_tenant_than_the_inlets_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        acme = await add_tenant(queue)
        await queue.operator.execute(
            "select all_tenants.create_tenant($1, $2, 'other', 'Other', 'words')", uuid4(), uuid4()
        )
        await add_queue(database, config='{"queue": "orders", "shape": "envelope"}', tenant="acme")
        job = {"task_type": "job", "payload": {"n": 1}}
        _, wrong, _ = await send(
            queue.admin, *(json.dumps(job | more) for more in ({"tenant": "acme"}, {"tenant": "other"}, {}))
        )
        assert await move(queue.runtime) == (3, 2, 1)
        (refusal,) = await rows(queue.operator, "inlet_refusals", "orders")
        assert (refusal["message_key"], refusal["reason"]) == (
            str(wrong),
            "its tenant is not the tenant of this inlet",
        )
        tenants = await queue.admin.fetch("select tenant_id from queues.task")
        assert [row["tenant_id"] for row in tenants] == [acme, acme]


async def test_pgmq_may_be_absent_and_the_error_says_what_to_do(database: Database) -> None:
    async with database.connect("admin") as admin:
        with pytest.raises(NotFound, match="this database has no pgmq"):
            await prepare_queue(admin, "orders", wrappers=False)
        await install(admin)
        with pytest.raises(NotFound, match="pgmq has no queue 'orders'"):
            await prepare_queue(admin, "orders", wrappers=False)


async def test_a_queue_with_an_odd_name_is_read(database: Database) -> None:
    await add_queue(
        database, queue='Odd "name" ü', config=json.dumps({"queue": 'Odd "name" ü', "task_type": "job"})
    )
    async with calls(database) as queue:
        await send(queue.admin, "{}", queue='Odd "name" ü')
        assert await move(queue.runtime) == (1, 1, 0)


async def read(connection: Connection, *, vt: int = 300, qty: int = 1) -> list[Any]:
    return list(
        await connection.fetch("select * from public.ingestion_read('orders', vt => $1, qty => $2)", vt, qty)
    )


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_message_delivered_five_times_is_archived_and_its_job_fails(
    database: Database, version: Version
) -> None:
    await add_queue(database, version=version, wrappers=True, inlet=None)
    async with calls(database) as queue:
        job = await open_job(queue)
        poison = await queue.operator.fetchval(
            "select public.ingestion_enqueue('orders', $1)", json.dumps({"job_id": job})
        )
        for delivery in range(1, 5):
            (message,) = await read(queue.operator, vt=0)
            assert (message["msg_id"], message["read_ct"]) == (poison, delivery)
        good = await queue.operator.fetchval("select public.ingestion_enqueue('orders', '{\"n\": 1}', 0)")
        (message,) = await read(queue.operator, vt=0)
        assert message["msg_id"] == good, "the fifth delivery is not handed out, what follows is"
        assert await queue.admin.fetchval("select msg_id from pgmq.a_orders") == poison
        ended = await queue.admin.fetchrow("select * from ingest.ingestion_job")
        assert ended is not None
        assert (ended["status"], ended["error_message"]) == ("failed", "max_retries_exceeded")
        assert ended["finished_at"] is not None


@pytest.mark.parametrize("close", ["ingestion_delete", "ingestion_archive"])
async def test_a_late_consumer_closes_nothing_that_another_holds(database: Database, close: str) -> None:
    await add_queue(database, wrappers=True, inlet=None)
    async with calls(database) as queue:
        await send(queue.admin, "{}")
        (late,) = await read(queue.operator, vt=0)
        (holder,) = await read(queue.operator)
        assert holder["vt"].timestamp() - holder["enqueued_at"].timestamp() > 290
        call = f"select public.{close}('orders', $1, $2)"
        assert await queue.operator.fetchval(call, late["msg_id"], late["read_ct"]) is False
        assert await queue.operator.fetchval(call, holder["msg_id"], holder["read_ct"]) is True
        assert await queue.operator.fetchval(call, holder["msg_id"], holder["read_ct"]) is False
        archived = 1 if close == "ingestion_archive" else 0
        assert await left(queue) == (0, archived, 0)


async def test_only_service_role_may_use_the_wrappers(database: Database) -> None:
    await add_queue(database, wrappers=True, inlet=None)
    async with database.connect("runtime") as runtime:
        for call in (
            "ingestion_read('orders')",
            "ingestion_enqueue('orders', '{}')",
            "ingestion_delete('orders', 1)",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await runtime.fetch(f"select public.{call}")
    async with database.connect("admin") as admin:
        await prepare_queue(admin, "orders", wrappers=True)  # again is fine
        owners = await admin.fetch(
            "select distinct proowner::regrole::text, prosecdef, array_to_string(proconfig, ',') from pg_proc"
            " where proname like 'ingestion\\_%' and pronamespace = 'public'::regnamespace"
        )
        assert [tuple(row) for row in owners] == [("penstock_queue", True, "search_path=pg_catalog, pg_temp")]
        assert not await admin.fetchval("select has_schema_privilege('penstock_queue', 'public', 'create')")


async def test_functions_of_the_same_name_that_are_not_ours_are_left_alone(database: Database) -> None:
    async with database.connect("admin") as admin:
        await install(admin)
        await admin.execute("select pgmq.create('orders')")
        await admin.execute(
            "create function public.ingestion_delete(text, bigint) returns int language sql as 'select 7'"
        )
        with pytest.raises(Conflict, match="exists already and is not of Penstock"):
            await prepare_queue(admin, "orders", wrappers=True)
        assert await admin.fetchval("select public.ingestion_delete('orders', 1)") == 7


async def add_tenant(queue: Calls) -> UUID:
    tenant = uuid4()
    await queue.operator.execute(
        "select all_tenants.create_tenant($1, $2, 'acme', 'Acme', 'words')", tenant, uuid4()
    )
    return tenant


async def open_job(queue: Calls) -> str:
    """An ingestion job of a tenant's source, as a sync that has begun has it."""
    tenant, source = await add_tenant(queue), uuid4()
    await queue.put_type("sync-source")
    async with queue.runtime.transaction():
        await queue.runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant))
        await queue.runtime.execute(
            "select ingest.add_source($1, 'folder', 'papers', 'default', 'papers')", source
        )
        begun = json.loads(await queue.runtime.fetchval("select ingest.begin_sync($1, 1)", source))
    return str(begun["job_id"])
