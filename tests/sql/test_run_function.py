"""The runner calls what is registered and refuses every other name, with the field and the remedy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import FunctionRefused
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, document_calls, tenant_transaction

RUN = "select internal.run_function($1, $2)"

WROTE = "select pg_current_xact_id_if_assigned() is not null"
"""A transaction gets its number with the first thing it writes or locks."""

MALFORMED = [
    None,
    "",
    " ",
    "send_email_supervisor",
    "comms.",
    ".send_email_supervisor",
    "comms..send_email_supervisor",
    "public.comms.send_email_supervisor",
    "COMMS.send_email_supervisor",
    "comms.Send_Email_Supervisor",
    '"comms".send_email_supervisor',
    '"comms"."send_email_supervisor"',
    "'comms.send_email_supervisor'",
    " comms.send_email_supervisor",
    "comms.send_email_supervisor ",
    "comms.send_email_supervisor\n",
    "comms.send_email_supervisor\nx",
    "comms.send_email_supervisor(jsonb)",
    "comms.send_email_supervisor(null); drop table accounts.tenant; --",
    "comms.send_email_supervisor/**/",
    "comms.send_email_supervisor$1",
    "comms.send-email-supervisor",
    "сomms.send_email_supervisor",  # noqa: RUF001  # the first letter is Cyrillic
    "comms․send_email_supervisor",  # noqa: RUF001  # a one dot leader
    "comms.send_email_supervisor\u200b",
    "cömms.send_email_supervisor",
    "comms." + "a" * 64,
    "a" * 10_240,
    "comms." + "a" * 10_240,
    "1comms.send_email_supervisor",
    "pg_catalog.pg_sleep(1)",
]

ELSEWHERE = [
    "comms.nothing",
    "nowhere.send_email_supervisor",
    "ingest.delete_document",
    "comms.kickoff_send_email",
    "internal.erase_tenant",
    "internal.run_function",
    "internal.business_call",
    "internal.register_process",
    "queues.stop_tenant",
    "pg_catalog.pg_sleep",
    "pg_catalog.jsonb_typeof",
    "pg_catalog.pg_read_file",
    "pg_temp.send_email_supervisor",
    "public.send_email_supervisor",
    "information_schema.tables",
]


@asynccontextmanager
async def acme(database: Database) -> AsyncIterator[tuple[DocumentCalls, Tenant]]:
    async with document_calls(database) as calls:
        yield calls, await calls.create_tenant("acme")


async def refusal(runtime: Connection, name: str | None) -> FunctionRefused:
    """The refusal of a name, in a transaction that wrote nothing."""
    with pytest.raises(FunctionRefused) as refused, translated():
        async with runtime.transaction():
            await runtime.fetchval(RUN, name, "{}")
    assert not await runtime.fetchval(WROTE), name
    return refused.value


async def test_a_malformed_name_is_refused(database: Database) -> None:
    async with acme(database) as (calls, tenant), tenant_transaction(calls.runtime, tenant):
        for name in MALFORMED:
            refused = await refusal(calls.runtime, name)
            assert refused.field == "function_name", name
            assert "is not a function name" in str(refused), name
            assert "schema.function" in refused.remedy, name
            assert len(str(refused)) < 500, name


async def test_a_name_that_is_not_registered_is_refused(database: Database) -> None:
    async with acme(database) as (calls, tenant), tenant_transaction(calls.runtime, tenant):
        for name in ELSEWHERE:
            refused = await refusal(calls.runtime, name)
            assert refused.field == "function_name", name
            assert f"{name} is not registered" in str(refused)
            assert "penstock process list" in refused.remedy, name


@pytest.mark.parametrize(
    "change",
    [
        "drop function comms.get_email_payload",
        "revoke execute on function comms.get_email_payload from worker_service_user",
        "alter function comms.get_email_payload rename to get_letter_payload",
        """
        drop function comms.get_email_payload;
        create function comms.get_email_payload(_payload text) returns text language sql as 'select _payload';
        grant execute on function comms.get_email_payload to worker_service_user;
        """,
    ],
    ids=["dropped", "not granted", "renamed", "of another type"],
)
async def test_a_registered_function_that_cannot_be_called_is_refused(
    database: Database, change: str
) -> None:
    async with acme(database) as (calls, tenant):
        await calls.admin.execute(change)
        async with tenant_transaction(calls.runtime, tenant):
            refused = await refusal(calls.runtime, "comms.get_email_payload")
    assert (refused.field, "cannot be called" in str(refused)) == ("function_name", True)
    assert "penstock migrate" in refused.remedy


@pytest.mark.parametrize("role", ["penstock_api", "penstock_reader", "service_role", "penstock_operator"])
async def test_only_workers_may_call_the_runner(database: Database, role: str) -> None:
    async with database.connect("admin") as admin:
        await admin.execute(f"set role {role}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="run_function"):
            await admin.fetchval(RUN, "comms.send_email_supervisor", "{}")


async def test_a_function_is_called_with_the_rights_of_its_owner_for_the_transactions_tenant(
    database: Database,
) -> None:
    async with acme(database) as (calls, tenant):
        other = await calls.create_tenant("other")
        message = await calls.of(tenant, "comms.create_sms_message", "+4930123456", "Good morning")
        ((_, task),) = await calls.rows(tenant, "comms.kickoff_send_sms", message)
        asked = ("internal.run_function", "comms.send_sms_supervisor", {"send_sms_task_id": task})
        assert (await calls.of(other, *asked))["status"] == "send_sms_task_not_found"
        answer = await calls.of(tenant, *asked)
        assert (answer["status"], answer["payload"]["outcome"]) == ("succeeded", "attempted")


async def test_without_a_tenant_nothing_is_run(database: Database) -> None:
    async with acme(database) as (calls, _):
        for name, payload in (
            ("comms.send_email_supervisor", {"send_email_task_id": 1}),
            ("comms.get_sms_payload", {"send_sms_attempt_id": 1}),
        ):
            with pytest.raises(asyncpg.PostgresError) as refused:
                await calls.runtime.fetchval(RUN, name, json.dumps(payload))
            assert refused.value.sqlstate == "PS012"


async def test_a_worker_runs_for_the_tenant_it_names_but_not_within_anothers_transaction(
    database: Database,
) -> None:
    async with acme(database) as (calls, tenant):
        other = await calls.create_tenant("other")
        message = await calls.of(tenant, "comms.create_sms_message", "+4930123456", "Good morning")
        ((_, task),) = await calls.rows(tenant, "comms.kickoff_send_sms", message)
        named = (tenant.tenant_id, "comms.send_sms_supervisor", json.dumps({"send_sms_task_id": task}))
        worker = await calls.runtime.fetchval(
            "select queues.register_worker('w', array['processes'], interval '1 day')"
        )
        (lease,) = await calls.runtime.fetch("select * from queues.claim($1, 'processes', 1)", worker)
        held = (worker, lease["lease_id"], lease["task_id"])
        run = "select internal.run_for_tenant($1, $2, $3)"
        run_and_complete = "select internal.run_and_complete($1, $4, $5, $6, $2, $3, false)"
        for query, arguments in ((run, named), (run_and_complete, (*named, *held))):
            with pytest.raises(asyncpg.PostgresError) as refused:
                async with tenant_transaction(calls.runtime, other):
                    await calls.runtime.fetchval(query, *arguments)
            assert (refused.value.sqlstate, refused.value.detail) == ("PS005", "tenant_id")
        outcomes = []
        for query, arguments in ((run, named), (run_and_complete, (*named, *held))):
            answer = json.loads(await calls.runtime.fetchval(query, *arguments))
            outcomes.append(answer["payload"]["outcome"])
        assert outcomes == ["attempted", "waiting"]
        assert await calls.operator.fetchval("select queues.task_state($1)", lease["task_id"]) == "completed"


async def test_a_payload_of_any_kind_is_answered_with_an_envelope(database: Database) -> None:
    """Missing ids, wrong types and no object at all: words for people, and nothing written."""
    async with acme(database) as (calls, tenant):
        names = [
            row["function_name"]
            for row in await calls.admin.fetch("select function_name from internal.business_function")
        ]
        for name in names:
            async with tenant_transaction(calls.runtime, tenant):
                for payload in ("{}", "[]", "null", "7", '"x"', '{"original_payload": []}', None):
                    answer = json.loads(await calls.runtime.fetchval(RUN, name, payload))
                    assert answer["status"].startswith("missing_"), (name, payload)
                    assert answer["validation_failure_message"], (name, payload)
                assert not await calls.runtime.fetchval(WROTE), name


NAMES = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"[a-z_][a-z0-9_]{0,20}\.[a-z_][a-z0-9_]{0,30}", fullmatch=True),
    st.builds(
        lambda head, name, tail: head + name + tail,
        st.text(alphabet=" '\"();.$\\\n-/*abcABC", max_size=3),
        st.sampled_from(["comms.send_email_supervisor", "pg_catalog.pg_sleep", "ingest.delete_document"]),
        st.text(alphabet=" '\"();.$\\\n-/*abcABC", min_size=1, max_size=12),
    ),
    st.sampled_from([name for name in MALFORMED + ELSEWHERE if name is not None]),
).map(lambda name: name.replace("\0", ""))


async def test_any_unregistered_name_is_refused_and_nothing_is_written(database: Database) -> None:
    async with acme(database) as (calls, tenant):
        known = await calls.admin.fetch("select function_name from internal.business_function")
        registered = {row["function_name"] for row in known}
        loop = asyncio.get_running_loop()

        async def refuse(name: str) -> None:
            async with tenant_transaction(calls.runtime, tenant):
                refused = await refusal(calls.runtime, name)
            assert refused.field == "function_name"
            assert refused.remedy

        @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(NAMES.filter(lambda name: name not in registered))
        def is_refused(name: str) -> None:
            asyncio.run_coroutine_threadsafe(refuse(name), loop).result()

        await asyncio.to_thread(is_refused)
