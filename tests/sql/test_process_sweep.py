"""The sweep finds every open root without a scheduled supervisor, and leaves the others alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.plugins.database import Database
from tests.sql.document_calls import tenant_transaction
from tests.sql.process_calls import PROCESS, Processes, processes


async def lost_roots(of: Processes, count: int) -> list[int]:
    roots = [await of.start() for _ in range(count)]
    for root_id in roots:
        await of.lose(root_id)
    return roots


async def test_a_root_without_a_supervisor_gets_one_after_a_minute(database: Database) -> None:
    async with processes(database) as of:
        (root_id,) = await lost_roots(of, 1)
        await of.calls.clock.advance(minutes=1)
        assert await of.sweep() == 0
        await of.calls.clock.advance(seconds=1)
        assert await of.sweep() == 1
        root = await of.open_root(root_id)
        assert (root["swept"], root["check_number"]) == (1, 2)
        assert await of.state(root["task_id"]) == "ready"
        await of.calls.clock.advance(minutes=10)
        assert await of.sweep() == 0, "its supervisor is to come"
        assert await of.outcome(root_id, check=2) == "attempted"


async def test_a_root_whose_supervisor_is_late_or_will_come_later_is_left(database: Database) -> None:
    async with processes(database) as of:
        await of.start()
        await of.start(scheduled_at=of.calls.clock.now + timedelta(days=1))
        await of.calls.clock.advance(minutes=30)
        assert await of.sweep() == 0
        worker = await of.calls.runtime.fetchval(
            "select queues.register_worker('w', array['processes'], interval '1 day')"
        )
        await of.calls.runtime.fetch("select queues.claim($1, 'processes', 10)", worker)
        assert await of.sweep() == 0, "one that runs is not lost"


async def test_a_root_that_is_lost_again_and_again_is_swept_less_and_less_often(database: Database) -> None:
    async with processes(database) as of:
        (root_id,) = await lost_roots(of, 1)
        for minutes in (1, 2, 4, 8):
            await of.calls.clock.advance(minutes=minutes)
            assert await of.sweep() == 0
            await of.calls.clock.advance(seconds=1)
            assert await of.sweep() == 1
            await of.lose(root_id)
        await of.calls.admin.execute("update internal.open_root set swept = 30")
        await of.calls.clock.advance(days=1)
        assert await of.sweep() == 1, "once a day at last"


async def test_it_sweeps_every_tenants_roots_and_leaves_the_transactions_tenant_as_it_was(
    database: Database,
) -> None:
    async with processes(database) as of:
        other = replace(of, tenant=await of.calls.create_tenant("other"))
        roots = [(owner, (await lost_roots(owner, 1))[0]) for owner in (of, other)]
        await of.calls.clock.advance(minutes=2)
        async with tenant_transaction(of.calls.runtime, other.tenant) as session:
            assert await session.fetchval("select all_tenants.sweep_processes()") == 2
            kept = await session.fetchval("select current_setting('penstock.tenant_id')")
            assert kept == str(other.tenant.tenant_id)
        for owner, root_id in roots:
            root = await owner.open_root(root_id)
            found = await of.calls.admin.fetchval(
                "select tenant_id from queues.task where task_id = $1", root["task_id"]
            )
            assert found == root["tenant_id"] == owner.tenant.tenant_id


async def test_a_sweep_takes_a_limited_number_of_roots_the_oldest_first(database: Database) -> None:
    async with processes(database) as of:
        oldest = await lost_roots(of, 2)
        await of.calls.clock.advance(seconds=1)
        await lost_roots(of, 1)
        await of.calls.clock.advance(minutes=2)
        assert await of.sweep(limit=2) == 2
        assert [(await of.open_root(root_id))["swept"] for root_id in oldest] == [1, 1]
        assert [await of.sweep(), await of.sweep()] == [1, 0]


async def test_roots_that_are_merely_late_hide_none_behind_them(database: Database) -> None:
    """As when a queue is paused."""
    async with processes(database) as of:
        for _ in range(3):
            await of.start()
        await of.calls.clock.advance(seconds=1)
        (root_id,) = await lost_roots(of, 1)
        await of.calls.clock.advance(minutes=2)
        assert await of.sweep(limit=2) == 1
        assert (await of.open_root(root_id))["swept"] == 1


async def test_a_locked_root_is_left_for_the_next_sweep(database: Database) -> None:
    async with processes(database) as of:
        locked, free = await lost_roots(of, 2)
        await of.calls.clock.advance(minutes=2)
        async with of.calls.admin.transaction():
            await of.calls.admin.execute(
                "select from internal.open_root where process = $1 and root_id = $2 for update",
                PROCESS,
                locked,
            )
            assert await of.sweep() == 1
            assert (await of.open_root(free))["swept"] == 1
        assert await of.sweep() == 1


async def test_the_root_of_a_stopped_tenant_does_not_prevent_others_from_being_swept(
    database: Database,
) -> None:
    async with processes(database) as of:
        await lost_roots(of, 1)
        await of.calls.clock.advance(seconds=1)
        other = replace(of, tenant=await of.calls.create_tenant("other"))
        (root_id,) = await lost_roots(other, 1)
        await of.calls.admin.execute("select queues.stop_tenant($1, 'account-deletion')", of.tenant.tenant_id)
        await of.calls.clock.advance(minutes=2)
        assert await of.sweep() == 1
        assert (await other.open_root(root_id))["swept"] == 1
