"""penstock inlet: add, list, show, pause, replay and remove; what is missing is said with the remedy."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from penstock.cli.doctor.inlet_checks import check_inlets
from penstock.db import Connection
from penstock.inlets.operations import InletOperations
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.pgmq import add_queue, install, send
from tests.plugins.workers import Crew, ended, eventually

TENANT = "select all_tenants.create_tenant(internal.uuid7(), internal.uuid7(), 'acme', '', 'words')"
ADD = ("inlet", "add", "pgmq", "orders", "--queue", "orders")


async def test_an_inlet_is_added_shown_paused_replayed_and_removed(
    database: Database, penstock: CommandLine
) -> None:
    async with database.connect("admin") as admin:
        assert "this database has no pgmq" in penstock(*ADD, "--type", "job").err
        await install(admin)
        assert "pgmq has no queue 'orders'" in penstock(*ADD, "--type", "job").err
        await admin.execute("select pgmq.create('orders')")
        refused = penstock(*ADD)
        assert "Add --type TASK_TYPE, or --any-type" in refused.err
        assert "there is no tenant 'nobody'" in penstock(*ADD, "--type", "job", "--tenant", "nobody").err
        added = penstock(*ADD, "--type", "job", "--wrappers", "--json").json
        assert added == {"inlet": "orders", "kind": "pgmq", "source": "pgmq:orders"}
        again = penstock("inlet", "add", "pgmq", "more", "--queue", "orders", "--type", "job")
        assert "the inlet 'orders' reads pgmq:orders already" in again.err
        assert "nobody reads orders" in penstock("doctor").out
        await _move(admin)
        shown = penstock("inlet", "show", "orders", "--json").json
        assert (shown["received"], shown["taken"], shown["refused"]) == (2, 1, 1)
        assert shown["task_types"] == ["job"]
        assert shown["refusals"][0]["reason"] == "its payload is not a JSON object"
        assert "its payload is not a JSON object" in penstock("inlet", "show", "orders").out
        assert penstock("inlet", "list", "--json").json["inlets"][0]["name"] == "orders"
        assert penstock("inlet", "pause", "orders", "--json").json == {"inlet": "orders", "enabled": False}
        assert "orders is paused" in penstock("doctor").out
        penstock("inlet", "resume", "orders")
        assert penstock("inlet", "replay", "orders", "--json").json == {"inlet": "orders", "replayed": 1}
        assert "which has taken in 1 message" in penstock("inlet", "remove", "orders").err
        removed = penstock("inlet", "remove", "orders", "--yes", "--json").json
        assert removed == {"inlet": "orders", "removed": True, "taken": 1}
        assert "there is no inlet 'orders'" in penstock("inlet", "orders").err
        assert "there is no inlet 'orders'" in penstock("inlet", "show", "orders").err


ONLY = ("inlet", "add", "pgmq", "--queue", "orders", "--wrappers-only")


async def test_a_consumer_of_its_own_gets_the_wrappers_and_no_inlet_that_competes(
    database: Database, penstock: CommandLine
) -> None:
    async with database.connect("admin") as admin, database.connect("operator") as consumer:
        await install(admin)
        assert "pgmq has no queue 'orders'" in penstock(*ONLY).err
        await admin.execute("select pgmq.create('orders')")
        for options, said in (
            (("--type", "job"), "so --type would have no effect"),
            (("--any-type",), "so --any-type would have no effect"),
            (("--tenant", "acme"), "so --tenant would have no effect"),
            (("mine",), "so the NAME would have no effect"),
        ):
            assert said in penstock(*ONLY, *options).err
        assert "the inlet needs a name" in penstock(*ONLY[:-1], "--type", "job").err
        assert penstock(*ONLY, "--json").json == {"queue": "orders", "wrappers": True}
        assert penstock("inlet", "list", "--json").json == {"inlets": []}
        assert await admin.fetchval("select public.ingestion_enqueue('orders', '{\"n\": 1}')") == 1
        (message,) = await consumer.fetch("select * from public.ingestion_read('orders')")
        assert message["msg_id"] == 1
        assert await consumer.fetchval(
            "select public.ingestion_delete('orders', 1, $1)", message["read_ct"]
        ), "the consumer closes what it read: nobody took it away"


async def test_wrappers_alone_are_not_added_beside_an_inlet_of_the_same_queue(
    database: Database, penstock: CommandLine
) -> None:
    await add_queue(database)
    refused = penstock(*ONLY)
    assert "the inlet 'orders' reads pgmq:orders and would compete" in refused.err
    assert "penstock inlet remove orders" in refused.err
    async with database.connect("admin") as admin:
        assert await admin.fetchval("select to_regproc('public.ingestion_read')") is None


GIVEN_UP = "select count(*) from public.ingestion_read('orders', vt => 0, qty => 10)"


async def test_what_ingestion_read_gave_up_is_replayed_by_the_queues_name_without_an_inlet(
    database: Database, penstock: CommandLine
) -> None:
    replay = ("inlet", "replay", "pgmq:orders")
    async with database.connect("admin") as admin, database.connect("operator") as consumer:
        await install(admin)
        assert "pgmq has no queue 'orders'" in penstock(*replay).err
        await admin.execute("select pgmq.create('orders')")
        assert "penstock inlet add pgmq --queue orders --wrappers-only" in penstock(*replay).err
        penstock(*ONLY)
        done, *poison = await send(admin, '{"n": 0}', '{"n": 1}', '{"n": 2}')
        await consumer.fetch("select * from public.ingestion_read('orders', vt => 0)")
        await consumer.execute("select public.ingestion_archive('orders', $1, 1)", done)
        for _ in range(5):
            await consumer.fetchval(GIVEN_UP)
        archived = await admin.fetch("select msg_id, read_ct from pgmq.a_orders order by msg_id")
        assert [tuple(row) for row in archived] == [(done, 1), (poison[0], 5), (poison[1], 5)]

        assert penstock(*replay, str(poison[0]), "--json").json == {"queue": "orders", "replayed": 1}
        planned = penstock(*replay, "--dry-run", "--json").json
        assert (planned["queue"], planned["count"]) == ("orders", 1)
        assert "Sent 1 message again." in penstock(*replay).out
        assert "Sent 0 messages again." in penstock(*replay).out
        assert await admin.fetchval("select array_agg(msg_id) from pgmq.a_orders") == [done]
        again = await consumer.fetch(
            "select read_ct, message from public.ingestion_read('orders', vt => 0, qty => 10)"
        )
        assert [(row["read_ct"], json.loads(row["message"])["n"]) for row in again] == [(1, 1), (1, 2)]

        penstock(*ADD, "--type", "job")
        refused = penstock(*replay)
        assert "the inlet 'orders' reads the queue 'orders'" in refused.err
        assert "penstock inlet replay orders" in refused.err


@pytest.mark.timeout(120)
async def test_an_inlet_that_a_worker_holds_is_read_beside_it(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    """The inlet is a tenant's: the login of workers reads it, too."""
    async with database.connect("admin") as admin:
        await admin.execute(TENANT)
        await admin.execute("select queues.put_task_type('job')")
        await add_queue(database, tenant="acme")
        await admin.fetch("select * from queues.hold_inlets('a worker', array['pgmq'], 600)")
        reader = crew.spawn(
            "penstock", "inlet", "orders", database_url=database.runtime_url, data_dir=tmp_path
        )
        await send(admin, '{"n": 1}')

        async def is_moved() -> bool:
            return bool(await admin.fetchval("select count(*) = 1 from queues.task"))

        await eventually(is_moved, within=60)
        assert await admin.fetchval("select holder from queues.inlet_hold") == "a worker"
        reader.send_signal(signal.SIGTERM)
        assert await ended(reader) == 0
        assert await admin.fetchval("select holder from queues.inlet_hold") == "a worker"


async def test_an_inlet_of_a_bridge_is_not_run_by_penstock(database: Database, penstock: CommandLine) -> None:
    async with database.connect("operator") as operator:
        await operator.execute("select queues.put_inlet('orders', 'bullmq', 'bullmq:orders')")
    refused = penstock("inlet", "orders")
    assert refused.code != 0
    assert "inlets of kind 'bullmq' are not read by Penstock's workers" in refused.err


async def test_doctor_warns_of_what_was_refused_recently_and_of_a_bridge_that_is_silent(
    database: Database,
) -> None:
    async with database.connect("operator") as operator, database.connect("admin") as admin:
        calls = InletOperations(operator)
        await calls.add("orders", "bullmq", "bullmq:orders", {})

        async def said() -> list[tuple[str, str]]:
            return [(each.status, each.message) for each in await check_inlets(calls)]

        assert await said() == [("warn", "orders has received nothing yet")]
        await operator.fetch('select * from queues.take_in(\'orders\', \'[{"key": "a", "refused": "bad"}]\')')
        assert await said() == [("warn", "orders refused 1 message in the last 24 hours")]
        await admin.execute("update queues.inlet_refusal set at = at - interval '25 hours'")
        assert await said() == [
            ("ok", "orders: 1 received, 0 taken, 0 duplicates, 1 refused, lag unknown"),
        ]
        await admin.execute("update queues.inlet_count set lag = interval '400 seconds'")
        assert await said() == [("warn", "messages of orders wait for 400 s before they are taken in")]
        await admin.execute("update queues.inlet_count set at = '2026-11-01T10:00:00Z'")
        assert await said() == [("warn", "orders has received nothing since 2026-11-01 10:00 UTC")]


async def test_doctor_says_of_an_inlet_that_needs_nobody_what_it_counted_and_its_lag(
    database: Database,
) -> None:
    taken = '{"key": "%s", "task_type": "job", "payload": {}}'
    batch = [taken % "a", taken % "b", taken % "a", '{"key": "c", "refused": "bad"}']
    async with database.connect("operator") as operator, database.connect("admin") as admin:
        await admin.execute("select queues.put_task_type('job')")
        calls = InletOperations(operator)
        for name in ("orders", "quiet"):
            await calls.add(name, "pgmq", f"pgmq:{name}", {"queue": name})
        await operator.fetch("select * from queues.take_in('orders', $1)", f"[{', '.join(batch)}]")
        await admin.execute("update queues.inlet_refusal set at = at - interval '25 hours'")
        status = '{"orders": {"lag_seconds": 1.25}, "quiet": {"lag_seconds": 0}}'
        for _ in range(2):  # the second look tells how it goes
            await admin.fetch("select * from queues.hold_inlets('w', array['pgmq'], 60, null, $1)", status)
        assert [(each.status, each.message) for each in await check_inlets(calls)] == [
            ("ok", "orders: 4 received, 2 taken, 1 duplicate, 1 refused, lag 1.2 s"),
            ("ok", "quiet: 0 received, 0 taken, 0 duplicates, 0 refused, lag 0.0 s"),
        ]


async def _move(admin: Connection) -> None:
    await admin.execute("select queues.put_task_type('job')")
    await send(admin, '{"n": 1}', "[]")
    await admin.fetch("select * from queues.take_from_pgmq('orders')")
