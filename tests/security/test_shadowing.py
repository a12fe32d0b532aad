"""Attacks before each call of a registered function: it answers and writes what it does without them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from penstock.db import Connection
from tests.plugins.database import Database
from tests.security.process_scenes import Scene, scenes
from tests.security.shadows import ATTACKS, TRAP, attack
from tests.sql.document_calls import DocumentCalls, document_calls

# Reads, for any caller, every row of every table, as it is inside the caller's transaction. A mark is a
# number of transactions, which no two runs share.
WRITTEN = """
create function public.written() returns text language plpgsql security definer
set search_path = pg_catalog, pg_temp set bytea_output = 'hex' set intervalstyle = 'postgres' as $$
declare
  v_table regclass;
  v_rows text;
  v_all text := '';
begin
  for v_table in
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspowner::regrole::text like 'penstock%' and c.relkind in ('r', 'p') and not c.relispartition
    order by c.oid
  loop
    execute format(
      'select string_agg(r.t, E''\\n'' order by r.t)
       from (select (to_jsonb(t) - ''mark'')::text as t from %s t) r', v_table) into v_rows;
    v_all := v_all || v_table || E'\\n' || coalesce(v_rows, '') || E'\\n';
  end loop;
  return v_all;
end $$;
create function public.sequences() returns jsonb language sql as $$
  select jsonb_object_agg(format('%I.%I', s.schemaname, s.sequencename), coalesce(s.last_value, 0))
  from pg_sequences s $$;
create function public.rewind(_to jsonb) returns void language sql as $$
  select setval(s.key::regclass, greatest(s.value::bigint, 1), s.value::bigint > 0)
  from jsonb_each_text(_to) s $$;
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call answered, and every row there was after it."""

    answer: dict[str, Any] | str
    rows: frozenset[str]


class Range:
    """Calls the functions in transactions that are rolled back, each from the same state."""

    def __init__(self, calls: DocumentCalls, sequences: str) -> None:
        self.calls = calls
        self.sequences = sequences

    @classmethod
    async def prepare(cls, calls: DocumentCalls) -> tuple[Range, list[Scene]]:
        found = await scenes(calls)
        await calls.admin.execute(WRITTEN)
        return cls(calls, await calls.admin.fetchval("select public.sequences()")), found

    async def outcome(self, session: Connection, scene: Scene) -> Outcome:
        """The function called by the runner."""
        transaction = session.transaction()
        await transaction.start()
        answer: dict[str, Any] | str
        try:
            await session.execute(
                "select pg_catalog.set_config('penstock.tenant_id', $1, true)", str(scene.tenant.tenant_id)
            )
            try:
                async with session.transaction():
                    answer = json.loads(
                        await session.fetchval(
                            "select internal.run_function($1, $2)", scene.function, scene.text
                        )
                    )
            except asyncpg.PostgresError as error:
                answer = f"{error.sqlstate} {error}"
            rows = frozenset((await session.fetchval("select public.written()")).splitlines())
        finally:
            await transaction.rollback()
        # Numbers that were drawn stay drawn when a transaction is undone, and some are kept in the session.
        await session.execute("discard sequences")
        await self.calls.admin.execute("select public.rewind($1)", self.sequences)
        return Outcome(answer, rows)

    async def outcomes(self, session: Connection, found: list[Scene]) -> dict[str, Outcome]:
        return {scene.function: await self.outcome(session, scene) for scene in found}


@pytest.mark.parametrize("name", ATTACKS)
async def test_no_registered_function_calls_a_shadowing_object(database: Database, name: str) -> None:
    """Neither in a session that was attacked from the start, nor in one whose plans are made already."""
    async with (
        document_calls(database) as calls,
        database.connect("runtime") as warm,
        database.connect("runtime") as fresh,
    ):
        ground, found = await Range.prepare(calls)
        before = await calls.admin.fetchval("select public.written()")
        clean = await ground.outcomes(warm, found)
        for function, outcome in clean.items():
            assert isinstance(outcome.answer, dict), function
            assert outcome.answer["status"] == "succeeded", function
            # A before handler reads only; the work of a generated process is still to be written.
            if ".get_" not in function and ".perform_" not in function:
                assert outcome.rows != frozenset(before.splitlines()), f"{function} had nothing to do"
        await attack(calls.admin, fresh, name)
        attacked = await ground.outcomes(fresh, found)
        if name == "a schema on the path":
            await warm.execute("set search_path = evil, pg_temp, pg_catalog")
        else:
            await attack(calls.admin, warm, name)
        attacked_warm = await ground.outcomes(warm, found)
        for function, outcome in clean.items():
            for again in (attacked[function], attacked_warm[function]):
                assert again.answer == outcome.answer, function
                assert again.rows ^ outcome.rows == frozenset(), function


@pytest.mark.parametrize("name", ["temporary tables", "temporary views", "a schema on the path"])
async def test_the_attack_works_on_a_function_without_a_pinned_path(database: Database, name: str) -> None:
    async with document_calls(database) as calls, database.connect("runtime") as session:
        await calls.create_tenant("acme")
        await calls.admin.execute(
            """
            set search_path = accounts, pg_catalog;
            create function comms.weak_table() returns text language sql security definer as $$
              select count(tenant_id)::pg_catalog.text from tenant $$;
            create function comms.weak_call() returns text language sql security definer as $$
              select split_part('a.b', '.', 2) $$;
            """
        )
        functions = {"comms.weak_table": "1", "comms.weak_call": "b"}
        for function, right in functions.items():
            assert await calls.admin.fetchval(f"select {function}()") == right
        await calls.admin.execute("reset search_path")
        await attack(calls.admin, session, name)
        if name == "a schema on the path":
            with pytest.raises(asyncpg.RaiseError, match=TRAP):
                await session.fetchval("select comms.weak_call()")
        else:
            assert await session.fetchval("select comms.weak_table()") == "0"


REFUSED = (
    "set role penstock_owner",
    "set role penstock_all_tenants",
    "set session authorization penstock_owner",
    "set session authorization penstock_operator",
    "set session_replication_role = replica",
    "create function comms.clock() returns text language sql as 'select 1'",
    "create or replace function comms.get_email_payload(jsonb) returns jsonb language sql as 'select $1'",
    "create schema mine",
    "create function public.jsonb_build_object(jsonb) returns jsonb language sql as 'select 1'",
    "create operator public.= (leftarg = bigint, rightarg = bigint, function = pg_catalog.int8eq)",
    "create cast (text as jsonb) with inout as implicit",
    "alter function comms.get_email_payload(jsonb) set search_path = pg_temp",
    "insert into internal.business_function values ('pg_catalog.pg_sleep', 'comms.send_email', 'performer')",
    "select internal.register_process('comms.send_email', 'email', '{}')",
)


async def test_a_runtime_login_cannot_run_statements_that_widen_its_rights(database: Database) -> None:
    async with database.connect("runtime") as runtime:
        for statement in REFUSED:
            with pytest.raises(
                (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidObjectDefinitionError)
            ) as no:
                await runtime.execute(statement)
            assert "permission" in str(no.value) or "owner" in str(no.value), (statement, no.value)


async def test_row_security_switched_off_shows_and_changes_nothing(database: Database) -> None:
    """The owner is bound by it: asked not to filter, the database refuses to read at all."""
    async with document_calls(database) as calls, database.connect("runtime") as session:
        ground, found = await Range.prepare(calls)
        before = frozenset((await calls.admin.fetchval("select public.written()")).splitlines())
        await session.execute("set row_security = off")
        for function, outcome in (await ground.outcomes(session, found)).items():
            assert isinstance(outcome.answer, str), function
            assert outcome.answer.startswith("42501 "), (function, outcome.answer)
            assert outcome.rows == before, function
