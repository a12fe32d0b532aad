"""One tenant probes every table, view and function in the catalogue for another's rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from penstock.db import Connection
from penstock.model import uuid7
from tests.plugins.database import Database
from tests.security.calls_without_a_tenant import (
    NAMES_A_TENANT,
    RUNS_FOR_A_TENANT,
    SEES_EVERY_TENANT,
    SEES_ITS_OWN,
    SERVES_EVERY_TENANT,
)
from tests.security.probe_values import probe_values
from tests.security.processes_filled import process_ids
from tests.security.tenants_filled import Filled, penstock_schemas, tenant_tables, two_tenants
from tests.sql.document_calls import DocumentCalls

RUNTIME = "penstock_runtime"
ANSWERED = "answered"

CALLABLE = """
select n.nspname || '.' || p.proname as name, p.provolatile::text as volatile,
  coalesce(p.proargnames[1:p.pronargs], '{}') as names,
  array(
    select t::regtype::text from unnest(p.proargtypes) with ordinality as u (t, place)
    order by place) as types,
  p.pronargdefaults::integer as optional
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any ($1) and has_function_privilege($2, p.oid, 'execute') and p.prokind = 'f'
order by 1
"""


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    writes: bool
    required: tuple[str, ...]
    optional: tuple[str, ...]
    uuids: frozenset[str]

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.required + self.optional


async def callable_by(admin: Connection, role: str) -> list[Function]:
    functions = []
    for row in await admin.fetch(CALLABLE, await penstock_schemas(admin), role):
        names = list(row["names"])
        split = len(names) - row["optional"]
        uuids = {name for name, type_ in zip(names, row["types"], strict=True) if type_ == "uuid"}
        functions.append(
            Function(
                row["name"],
                row["volatile"] == "v",
                tuple(names[:split]),
                tuple(names[split:]),
                frozenset(uuids),
            )
        )
    return functions


def value_of(function: Function, parameter: str, values: Mapping[str, Any]) -> Any:
    for key in (f"{function.name}.{parameter}", parameter):
        if key in values:
            return values[key]
    pytest.fail(
        f"{function.name} has a parameter {parameter} the probe has no value for: add one to"
        " tests/security/probe_values.py, the other tenant's id if it can carry one"
    )


def variants(function: Function, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Theirs everywhere, theirs one at a time, and with ids of our own beside theirs."""
    given = {name: value_of(function, name, values) for name in function.parameters}
    required = {name: given[name] for name in function.required}
    plain = {name: given[name] for name in given if name not in function.uuids}
    fresh = {name: uuid7() for name in function.required if name in function.uuids}
    found = [required, given, *({**required, name: given[name]} for name in function.optional)]
    for name in sorted(function.uuids):
        found += [{**required, **fresh, name: given[name]}, {**plain, **fresh, name: given[name]}]
    found += [{**required, **fresh}, {**plain, **fresh}]
    yield from {json.dumps(one, default=str, sort_keys=True): one for one in found}.values()


class Probe:
    """Calls as the runtime login and looks, as the administrator, at what that did to the others."""

    def __init__(self, calls: DocumentCalls, ours: Filled | None, others: list[Filled]) -> None:
        self.calls = calls
        self.ours = ours
        self.others = others
        self.ids: dict[str, set[str]] = {}
        self.payload = ""
        self.process_ids: dict[str, int] = {}
        self.registered: list[str] = []
        self.state: dict[str, str] = {}
        self.written = ""
        self.pointed: set[str] = set()
        self.found: list[str] = []

    async def prepare(self) -> None:
        for other in self.others:
            self.ids[other.prefix] = await ids_of(self.calls.admin, other)
        ids = await process_ids(self.calls.admin, self.others[-1].tenant)
        self.process_ids = {f"_{name}": number for name, number in ids.items()}
        self.payload = json.dumps({**ids, "original_payload": ids, "worker_payload": {}, "error": "probe"})
        registered = await self.calls.admin.fetch("select function_name from internal.business_function")
        self.registered = [row["function_name"] for row in registered]
        self.state = await self.digest()

    async def try_all(self, functions: list[Function]) -> None:
        """Call each function in all its variants; one must be answered, or refused by our own code."""
        for function in functions:
            if function.name in SEES_EVERY_TENANT or function.name in SERVES_EVERY_TENANT:
                continue
            if self.ours is None and function.name in RUNS_FOR_A_TENANT:
                continue
            values = self.process_ids | probe_values(self.others[-1])
            values |= {f"{name}._payload": self.payload for name in (*self.registered, *RUNS_FOR_A_TENANT)}
            ends: set[str] = set()
            for arguments in variants(function, values):
                if self.ours is None and function.name in NAMES_A_TENANT:
                    arguments.pop("_tenant_id", None)
                ends.add(await self.try_one(function, arguments))
            if function.name == "internal.run_function":
                for name in self.registered:
                    ends.add(await self.try_one(function, {"function_name": name, "payload": self.payload}))
            if not any(end == ANSWERED or end.startswith("PS") for end in ends):
                self.found.append(f"{function.name} was never reached, fix its values: {sorted(ends)}")

    async def try_one(self, function: Function, arguments: dict[str, Any]) -> str:
        places = ", ".join(f"{name} => ${n}" for n, name in enumerate(arguments, 1))
        query = f"select to_jsonb(answer)::text from {function.name}({places}) as answer"
        tenant = "" if self.ours is None else str(self.ours.tenant.tenant_id)
        runtime = self.calls.runtime
        try:
            async with runtime.transaction():
                await runtime.execute("select set_config('penstock.tenant_id', $1, true)", tenant)
                rows = await runtime.fetch(query, *arguments.values())
            answer, end = " ".join(row[0] or "" for row in rows), ANSWERED
        except asyncpg.PostgresError as error:
            answer = " ".join(filter(None, (str(error), error.detail, error.hint)))
            end = error.sqlstate or "unknown"
        except asyncpg.DataError as error:
            pytest.fail(f"the probe's value for {function.name} has the wrong type: {error}")
        passed = self.written + " ".join(str(value) for value in arguments.values())
        for other in self.others:
            leaked = {m for m in other.marks_in(answer) if m not in passed}
            leaked |= {i for i in self.ids[other.prefix] if i in answer and i not in passed}
            if leaked:
                self.found.append(f"{function.name}({', '.join(arguments)}) tells {sorted(leaked)}")
        if function.writes and (state := await self.digest()) != self.state:
            changed = [name for name, rows in state.items() if rows != self.state[name]]
            self.state = state
            self.found.append(
                f"{function.name}({', '.join(arguments)}) changed another tenant's rows in {changed}"
            )
        if function.writes and end == ANSWERED and self.ours is not None:
            await self.look_at_our_rows(self.ours, f"{function.name}({', '.join(arguments)})")
        return end

    async def look_at_our_rows(self, ours: Filled, call: str) -> None:
        """What we wrote ourselves comes back to us, but no row of ours may point at one of theirs."""
        admin = self.calls.admin
        parts = [f"select t::text as r from {t} t where tenant_id = $1" for t in await tenant_tables(admin)]
        rows = await admin.fetch(" union all ".join(parts), ours.tenant.tenant_id)
        text = " ".join(row[0] for row in rows)
        for other in self.others:
            self.written = " ".join(sorted(other.marks_in(text))) + " "
            pointers = {one for one in self.ids[other.prefix] if one in text} - self.pointed
            self.pointed |= pointers
            if pointers:
                self.found.append(f"{call} made a row of ours point at {sorted(pointers)}")

    async def digest(self) -> dict[str, str]:
        """One figure for the rows of the others in each table."""
        admin = self.calls.admin
        theirs = [other.tenant.tenant_id for other in self.others]
        parts = [
            f"select '{name}' as name, md5(string_agg(t::text, ',' order by t::text)) as d from {name} t"
            " where tenant_id = any ($1)"
            for name in await tenant_tables(admin, queues=True)
        ]
        parts.append(
            "select 'queues.ready', md5(string_agg(r::text, ',' order by r::text)) from queues.ready r"
            " where r.task_id in (select task_id from queues.task where tenant_id = any ($1))"
        )
        return {row["name"]: row["d"] or "" for row in await admin.fetch(" union all ".join(parts), theirs)}


async def ids_of(admin: Connection, filled: Filled) -> set[str]:
    """Every uuid in the tenant's rows."""
    found: set[UUID] = set()
    for table in await tenant_tables(admin):
        columns = await admin.fetch(
            "select attname from pg_attribute where attrelid = $1::regclass and atttypid = 'uuid'::regtype"
            " and attnum > 0",
            table,
        )
        for column in columns:
            rows = await admin.fetch(
                f"select {column[0]} from {table} where tenant_id = $1", filled.tenant.tenant_id
            )
            found |= {row[0] for row in rows if row[0] is not None}
    return {str(one) for one in found}


async def assert_probe_is_bound(runtime: Connection, tenant_id: UUID | None) -> None:
    """The probe proves nothing as a role that row security does not bind, or as the wrong tenant."""
    row = await runtime.fetchrow(
        """
        select session_user::text as login, current_user::text as acts_as, r.rolsuper, r.rolbypassrls,
          exists (
            select from pg_roles o
            where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants', 'service_role')
              and pg_has_role(session_user, o.oid, 'member')) as owns,
          nullif(current_setting('penstock.tenant_id', true), '') as tenant
        from pg_roles r where r.rolname = session_user
        """
    )
    assert row is not None
    assert (row["login"], row["acts_as"]) == (RUNTIME, RUNTIME)
    assert (row["rolsuper"], row["rolbypassrls"], row["owns"]) == (False, False, False)
    assert row["tenant"] == (None if tenant_id is None else str(tenant_id))


async def test_no_function_shows_or_changes_anything_of_another_tenant(database: Database) -> None:
    async with two_tenants(database) as (calls, ours, theirs):
        async with calls.runtime.transaction():
            await calls.runtime.execute(
                "select set_config('penstock.tenant_id', $1, true)", str(ours.tenant.tenant_id)
            )
            await assert_probe_is_bound(calls.runtime, ours.tenant.tenant_id)
        probe = Probe(calls, ours, [theirs])
        await probe.prepare()
        await probe.try_all(await callable_by(calls.admin, RUNTIME))
        assert probe.found == []


async def test_without_a_tenant_no_function_shows_or_changes_anything(database: Database) -> None:
    async with two_tenants(database) as (calls, ours, theirs):
        await assert_probe_is_bound(calls.runtime, None)
        probe = Probe(calls, None, [ours, theirs])
        await probe.prepare()
        await probe.try_all(await callable_by(calls.admin, RUNTIME))
        assert probe.found == []


async def test_the_probe_finds_a_function_that_leaks(database: Database) -> None:
    async with two_tenants(database) as (calls, ours, theirs):
        await calls.admin.execute(
            """
            create function ingest.leak(_document_id uuid) returns text language sql security definer as $$
              select d.title from ingest.document d where d.document_id = _document_id $$;
            create function ingest.spoil(_document_id uuid) returns void language sql security definer as $$
              update ingest.document d set title = 'spoilt' where d.document_id = _document_id $$;
            grant execute on function ingest.leak, ingest.spoil to penstock_runtime;
            """
        )
        probe = Probe(calls, ours, [theirs])
        await probe.prepare()
        functions = await callable_by(calls.admin, RUNTIME)
        await probe.try_all([f for f in functions if f.name in ("ingest.leak", "ingest.spoil")])
        assert [line.split("(")[0] for line in probe.found] == ["ingest.leak", "ingest.spoil"]


async def test_every_tenant_table_holds_rows_of_the_other_tenant(database: Database) -> None:
    """Otherwise the probe proves nothing about it."""
    async with two_tenants(database) as (calls, _, theirs):
        for table in await tenant_tables(calls.admin):
            owned = await calls.admin.fetchval(
                f"select count(*) from {table} where tenant_id = $1", theirs.tenant.tenant_id
            )
            assert owned > 0, table


async def test_no_table_or_view_shows_a_row(database: Database) -> None:
    async with two_tenants(database) as (calls, ours, _):
        relations = await calls.admin.fetch(
            "select c.oid::regclass::text as name from pg_class c"
            " where c.relnamespace::regnamespace::text = any ($1)"
            " and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')",
            await penstock_schemas(calls.admin),
        )
        shown = []
        for relation in relations:
            if relation["name"] == "internal.test_clock":
                continue
            for tenant in ("", str(ours.tenant.tenant_id)):
                try:
                    async with calls.runtime.transaction():
                        await calls.runtime.execute(
                            "select set_config('penstock.tenant_id', $1, true)", tenant
                        )
                        await calls.runtime.fetch(f"select * from {relation['name']}")
                    shown.append(relation["name"])
                except asyncpg.InsufficientPrivilegeError:
                    continue
        assert len(relations) > 80
        assert shown == []


async def test_what_sees_every_tenant_is_listed_with_its_reason(database: Database) -> None:
    async with database.connect("admin") as admin:
        functions = {function.name for function in await callable_by(admin, RUNTIME)}
    all_tenants = {name for name in functions if name.startswith("all_tenants.")}
    assert all_tenants - set(SEES_EVERY_TENANT) - SEES_ITS_OWN == set(), (
        "list it in SEES_EVERY_TENANT with its reason, or move it"
    )
    assert set(SERVES_EVERY_TENANT) - functions == set(), "listed, but there is no such function any more"
