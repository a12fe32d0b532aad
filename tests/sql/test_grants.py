"""Who may call what: every role calls functions, nobody accesses a table."""

from __future__ import annotations

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import calls, rows

ROLES = [
    "penstock_api",
    "worker_service_user",
    "service_role",
    "penstock_reader",
    "penstock_runtime",
    "penstock_operator",
]

LOOKS = {"stats", "show_task", "list_tasks", "explain", "dead_letters", "count_dead", "audit_invariants"}
PRODUCES = {"enqueue", "enqueue_many", "cancel_task"}
WORKS = {
    "admit", "beat", "claim", "close_cancelled", "complete", "complete_here", "complete_task",
    "dequeue_next_available_task", "extend", "fail", "fail_task", "fire_schedule", "go_idle", "holds",
    "next_due", "probe", "register_worker", "release", "snooze", "stop_worker",
}  # fmt: skip
OPERATES = {"pause", "resume", "put_limits", "replay", "purge_dead", "run_schedule"}
ACTS_ON_OWN = {"run_now", "repeat_task", "reveal_task"}
SHARED = {"rescue", "maintain", "put_queue", "put_task_type", "put_schedule", "drop_schedule"}
INNER = {
    "admit_keyed", "admit_limited", "bury", "drain_key", "drop_history", "empty_lanes", "erase_history",
    "find_lanes", "find_task", "free_keys", "hand_over", "note_attempt", "note_audit", "note_bad_end",
    "note_end", "note_error", "queue_room", "rate_room", "rate_take", "return_task", "roll_partitions",
    "settle_key", "show_ready", "stop_tenant", "wake", "withdraw", "count_depths", "count_ends",
    "count_state", "estimate", "scan_ended", "scan_tasks", "tenant_lanes",
}  # fmt: skip

MATRIX = {
    "penstock_reader": LOOKS,
    "penstock_api": LOOKS | PRODUCES | ACTS_ON_OWN,
    "worker_service_user": LOOKS | PRODUCES | WORKS | SHARED,
    "service_role": LOOKS | PRODUCES | ACTS_ON_OWN | OPERATES | SHARED,
}


# These call what is in a schema that the caller names: with the owner's rights anybody's code would run.
AS_CALLER = {"bullmq_waiting", "take_from_bullmq"}


async def test_every_queue_function_runs_as_its_owner_with_a_pinned_path(database: Database) -> None:
    async with database.connect("admin") as admin:
        functions = await admin.fetch(
            """
            select p.proname, p.prosecdef, r.rolname as owner, r.rolsuper, p.proconfig
            from pg_proc p join pg_roles r on r.oid = p.proowner
            where p.pronamespace = 'queues'::regnamespace
            """
        )
    assert len(functions) > 70
    for function in functions:
        assert function["prosecdef"] is (function["proname"] not in AS_CALLER), function["proname"]
        assert (function["owner"], function["rolsuper"]) == ("penstock_queue", False), function["proname"]
        assert "search_path=pg_catalog, pg_temp" in function["proconfig"], function["proname"]


async def test_internal_functions_are_helpers_or_pinned(database: Database) -> None:
    async with database.connect("admin") as admin:
        functions = await admin.fetch(
            """
            select p.proname, p.prosecdef, r.rolname as owner, p.proconfig
            from pg_proc p join pg_roles r on r.oid = p.proowner
            where p.pronamespace = 'internal'::regnamespace
            """
        )
    assert {"clock", "lane", "key_hash"} <= {function["proname"] for function in functions}
    for function in functions:
        assert function["owner"] in ("penstock_owner", "penstock_queue"), function["proname"]
        if function["prosecdef"]:
            assert any(s.startswith("search_path=") for s in function["proconfig"] or []), function["proname"]


async def test_no_function_is_open_to_everybody(database: Database) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetch(
            """
            select p.oid::regprocedure::text
            from pg_proc p
            cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            where p.pronamespace in ('queues'::regnamespace, 'internal'::regnamespace) and a.grantee = 0
            """
        ) == []  # fmt: skip


async def test_operators_can_see_the_state_of_every_process(database: Database) -> None:
    """The looks a process is made with, found in the catalogue, so that a new process is found too."""
    async with database.connect("admin") as admin:
        looks = await admin.fetch(
            """
            select f.name, p.oid is not null as is_there,
              has_function_privilege('service_role', p.oid, 'execute') as operator,
              has_function_privilege('penstock_api', p.oid, 'execute') as api
            from internal.process x
            cross join lateral (
              select split_part(x.process, '.', 1) as schema, split_part(x.process, '.', 2) as name) n
            cross join lateral unnest(array[
              format('%s.is_%s_stuck', n.schema, n.name),
              format('%s.has_%s_succeeded_attempt', n.schema, n.name),
              format('%s.count_%s_attempts', n.schema, n.name),
              format('%s.count_%s_failed_attempts', n.schema, n.name)]) f (name)
            left join pg_proc p on p.oid = to_regproc(f.name)
            """
        )
        every = await admin.fetch(
            """
            select p.oid::regproc::text as name from pg_proc p
            join internal.process x on p.pronamespace = split_part(x.process, '.', 1)::regnamespace
            where p.proname ~ ('^(is|has|count)_' || split_part(x.process, '.', 2) || '_')
            """
        )
    assert len(looks) >= 20
    assert [look["name"] for look in looks if not look["is_there"] or not look["operator"]] == []
    assert [look["name"] for look in looks if look["api"]] == []
    assert {row["name"] for row in every} == {look["name"] for look in looks}


async def test_no_function_has_an_overload(database: Database) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetch(
            """
            select n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspowner::regrole::text in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
            group by 1, 2 having count(*) > 1
            """
        ) == []  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_has_no_right_on_any_table_or_sequence(database: Database, role: str) -> None:
    async with calls(database) as queue:
        await queue.enqueue_many(5)
        await queue.clock.advance(days=2)
        await rows(queue.runtime, "maintain")
        open_tables = await queue.admin.fetch(
            """
            select c.relname
            from pg_class c
            where c.relnamespace in ('queues'::regnamespace, 'internal'::regnamespace)
              and c.relkind in ('r', 'p', 'S') and c.relname <> 'test_clock'
              and case when c.relkind = 'S' then has_sequence_privilege($1, c.oid, 'usage, select, update')
                else has_table_privilege(
                  $1, c.oid, 'select, insert, update, delete, truncate, references, trigger') end
            """,
            role,
        )
        assert open_tables == []


async def test_row_security_is_forced_on_every_table_also_on_new_partitions(database: Database) -> None:
    async with calls(database) as queue:
        for _ in range(3):
            await queue.enqueue_many(5)
            await queue.clock.advance(days=2)
            await rows(queue.runtime, "maintain")
        unforced = await queue.admin.fetch(
            """
            select c.relname from pg_class c
            where c.relnamespace = 'queues'::regnamespace and c.relkind in ('r', 'p')
              and not (c.relrowsecurity and c.relforcerowsecurity)
            """
        )
        assert unforced == []
        assert await queue.count("partition", "parent = 'task'") > 4


@pytest.mark.parametrize("role", list(MATRIX))
async def test_a_role_may_call_what_its_part_needs_and_nothing_else(database: Database, role: str) -> None:
    async with database.connect("admin") as admin:
        may = {
            row["proname"]: row["may"]
            for row in await admin.fetch(
                """
                select p.proname, has_function_privilege($1, p.oid, 'execute') as may
                from pg_proc p where p.pronamespace = 'queues'::regnamespace
                """,
                role,
            )
        }
    allowed = MATRIX[role]
    denied = (LOOKS | PRODUCES | ACTS_ON_OWN | WORKS | OPERATES | SHARED | INNER) - allowed
    assert {name for name in allowed if not may[name]} == set()
    assert {name for name in denied if may[name]} == set()


@pytest.mark.parametrize(
    ("role", "call"),
    [
        ("penstock_runtime", "queues.pause('default')"),
        ("penstock_runtime", "queues.replay()"),
        ("penstock_runtime", "queues.find_task(1)"),
        ("penstock_operator", "queues.claim(1, 'default', 1)"),
        ("penstock_operator", "queues.complete(1, '{1}')"),
        ("penstock_reader", "queues.enqueue('job')"),
        ("penstock_reader", "queues.cancel_task(1)"),
        ("penstock_api", "queues.claim(1, 'default', 1)"),
        ("penstock_api", "queues.pause('default')"),
    ],
)
async def test_a_call_that_is_not_granted_is_refused(database: Database, role: str, call: str) -> None:
    async with database.connect("admin") as admin:
        await admin.execute(f"set role {role}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await admin.fetch(f"select * from {call}")


@pytest.mark.parametrize("role", ["runtime", "operator"])
async def test_a_login_can_read_no_table(database: Database, role: str) -> None:
    async with database.connect("runtime" if role == "runtime" else "operator") as connection:
        for table in ("task", "ready", "lease", "dead_letter", "error", "task_p0"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"select from queues.{table}")


async def test_a_malicious_function_in_the_callers_search_path_is_not_called(database: Database) -> None:
    async with calls(database) as queue:
        await queue.runtime.execute(
            "create function pg_temp.cardinality(anyarray) returns integer language sql as 'select 1/0'"
        )
        await queue.runtime.execute("create temp table task (task_id bigint)")
        await queue.runtime.execute("set search_path = pg_temp, pg_catalog")
        task = await queue.enqueue()
        assert await queue.claimed_ids(await queue.worker()) == [task]
