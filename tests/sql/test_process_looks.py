"""What operators see of processes: lists, one in full, problems, and restarting one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from penstock.db.connect import translated
from penstock.errors import Conflict, InvalidArgument, InvalidMove, NoTenant, NotFound, TenantClosed
from penstock.processes.operation_rows import UnhealthyProcess
from penstock.processes.operations import ProcessOperations
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, document_calls, tenant_transaction

SMS = "comms.send_sms"
GENERATED = """
create schema trial authorization penstock_owner;
create table trial.send_sms_task (send_sms_task_id bigint primary key, tenant_id uuid not null,
  order_id uuid not null, restarted_after bigint not null default 0, created_at timestamptz not null);
create table trial.send_sms_attempt (send_sms_attempt_id bigint primary key, tenant_id uuid not null,
  send_sms_task_id bigint not null, task_id bigint not null, created_at timestamptz not null);
create table trial.send_sms_attempt_succeeded (send_sms_attempt_id bigint primary key,
  tenant_id uuid not null, worker_payload jsonb, created_at timestamptz not null);
create table trial.send_sms_attempt_failed (send_sms_attempt_id bigint primary key, tenant_id uuid not null,
  error_message text not null, retriable boolean not null, created_at timestamptz not null);
grant select on all tables in schema trial to penstock_all_tenants;
create function trial.send_sms_supervisor(_payload jsonb) returns jsonb language sql security definer
  set search_path = pg_catalog, pg_temp as $$ select '{"status": "done"}'::jsonb $$;
select internal.register_process('trial.send_sms', 'sms', '{"supervisor": "trial.send_sms_supervisor"}');
"""


class Looks:
    """Text messages of two tenants, driven by hand, and the operator's calls."""

    def __init__(self, calls: DocumentCalls, acme: Tenant, other: Tenant) -> None:
        self.calls = calls
        self.acme = acme
        self.other = other
        self.operator = ProcessOperations(calls.operator)

    async def start(self, tenant: Tenant | None = None, body: str = "a secret word") -> int:
        tenant = tenant or self.acme
        await self.calls.clock.advance(seconds=1)
        message = await self.calls.of(tenant, "comms.create_sms_message", "+4915112345678", body)
        row = (await self.calls.rows(tenant, "comms.kickoff_send_sms", message))[0]
        assert row["validation_failure_message"] is None
        return int(row["send_sms_task_id"])

    async def attempt(self, root: int, error: str | None, *, retriable: bool = True) -> None:
        """One attempt and its outcome, each when its time has come."""
        await self.calls.clock.advance(minutes=70)
        await self.look(root)
        attempt = await self.calls.admin.fetchval(
            "select max(send_sms_attempt_id) from comms.send_sms_attempt"
        )
        told: dict[str, Any] = {"original_payload": {"send_sms_attempt_id": attempt}}
        if error is None:
            await self.calls.of(
                self.acme, "comms.record_sms_success", {**told, "worker_payload": {"sid": "SM1"}}
            )
        else:
            await self.calls.of(
                self.acme, "comms.record_sms_failure", {**told, "error": error, "retriable": retriable}
            )

    async def look(self, root: int) -> dict[str, Any]:
        """The supervisor's run, as if its task was claimed."""
        found = await self.calls.of(self.acme, "comms.send_sms_supervisor", {"send_sms_task_id": root})
        assert isinstance(found, dict)
        return found

    async def failed(self, error: str = "the number is not in use") -> int:
        root = await self.start()
        await self.attempt(root, error, retriable=False)
        await self.look(root)
        return root

    async def succeeded(self) -> int:
        root = await self.start()
        await self.attempt(root, None)
        await self.look(root)
        return root


@asynccontextmanager
async def looks(database: Database) -> AsyncIterator[Looks]:
    async with document_calls(database) as calls:
        for name in ("db_function", "sms"):
            await call(
                calls.runtime, "queues.put_task_type", name, queue="sms" if name == "sms" else "processes"
            )
        yield Looks(calls, await calls.create_tenant("acme"), await calls.create_tenant("other"))


async def test_a_list_shows_the_state_of_each_process_newest_first(database: Database) -> None:
    async with looks(database) as here:
        failed, succeeded = await here.failed(), await here.succeeded()
        fresh, theirs = await here.start(), await here.start(here.other)
        rows = await here.operator.list()
        assert [(row.root_id, row.state, row.tenant) for row in rows] == [
            (theirs, "open", "other"),
            (fresh, "open", "acme"),
            (succeeded, "succeeded", "acme"),
            (failed, "failed", "acme"),
        ]
        assert rows[0].id == f"{SMS}/{theirs}"
        assert (rows[0].next_check_at, rows[0].swept, rows[0].ended_at) == (here.calls.clock.now, 0, None)
        assert (rows[3].attempts, rows[3].failed_attempts, rows[3].error_message) == (
            1,
            1,
            "the number is not in use",
        )
        assert (rows[2].next_check_at, rows[2].error_message) == (None, None)
        assert rows[2].ended_at is not None


async def test_a_list_is_read_oldest_first_page_by_page(database: Database) -> None:
    async with looks(database) as here:
        started = [await here.start() for _ in range(5)]
        seen: list[int] = []
        cursor = None
        for _ in range(3):
            page, cursor = await here.operator.page(None, None, cursor, 2, "created")
            seen += [row.root_id for row in page]
        assert (seen, cursor) == (started, None)
        with pytest.raises(InvalidArgument, match="'newest' is not an order of processes"):
            await here.operator.page(None, None, None, 2, "newest")  # type: ignore[arg-type]  # a stranger's


async def test_a_list_can_be_narrowed(database: Database) -> None:
    async with looks(database) as here:
        failed, succeeded = await here.failed(), await here.succeeded()
        fresh, theirs = await here.start(), await here.start(here.other)
        narrowed: list[tuple[dict[str, Any], list[int]]] = [
            ({"state": "open"}, [theirs, fresh]),
            ({"state": "succeeded"}, [succeeded]),
            ({"state": "failed"}, [failed]),
            ({"tenant": "other"}, [theirs]),
            ({"process": "send_sms", "limit": 1}, [theirs]),
            ({"process": SMS, "tenant": "acme", "state": "open"}, [fresh]),
            ({"process": "comms.send_email"}, []),
        ]
        for options, expected in narrowed:
            assert [row.root_id for row in await here.operator.list(**options)] == expected, options
        with pytest.raises(NotFound, match="no tenant 'nobody'"):
            await here.operator.list(tenant="nobody")
        with pytest.raises(NotFound, match="no process 'nothing'") as error:
            await here.operator.list(process="nothing")
        assert SMS in error.value.remedy
        with pytest.raises(InvalidArgument, match="'stuck' is not a state"):
            await here.operator.list(state="stuck")  # type: ignore[arg-type]  # what a stranger may send


async def test_one_process_is_shown_with_its_attempts_and_its_next_check(database: Database) -> None:
    async with looks(database) as here:
        root = await here.start()
        await here.attempt(root, "the gateway is busy")
        await here.look(root)
        await here.calls.clock.advance(seconds=10)
        shown = await here.operator.show(SMS, root)
        message = await here.calls.admin.fetchval("select sms_message_id from comms.sms_message")
        assert (shown.state, shown.about, shown.tenant) == ("open", {"sms_message_id": message}, "acme")
        assert (shown.channel, shown.max_attempts, shown.swept) == ("sms", 5, 0)
        assert shown.supervisor_task_state == "waiting"
        assert shown.late_seconds == 5.0  # the first backoff is as long
        (attempt,) = shown.attempts
        assert (attempt.number, attempt.outcome, attempt.error_message, attempt.retriable) == (
            1,
            "failed",
            "the gateway is busy",
            True,
        )
        assert (attempt.task_state, attempt.before_restart) == ("ready", False)
        assert (await here.operator.show("send_sms", root)) == shown
        with pytest.raises(NotFound, match=f"no process {SMS}/99") as error:
            await here.operator.show(SMS, 99)
        assert f"penstock process list --process {SMS}" in error.value.remedy


async def test_neither_a_list_nor_a_process_shows_the_text_of_a_message(database: Database) -> None:
    async with looks(database) as here:
        root = await here.failed()
        said = str(await here.operator.list()) + str(await here.operator.show(SMS, root))
        assert "secret" not in said
        assert "+49" not in said


async def test_within_a_tenants_transaction_an_operator_still_sees_where_tasks_are(
    database: Database,
) -> None:
    async with looks(database) as here:
        root = await here.start()
        async with tenant_transaction(here.calls.operator, here.other):
            shown = await here.operator.show(SMS, root)
            tenant = await here.calls.operator.fetchval("select current_setting('penstock.tenant_id')")
        assert shown.supervisor_task_state == "ready"
        assert tenant == str(here.other.tenant_id)


async def test_a_failed_process_starts_again_and_its_failures_no_longer_count(database: Database) -> None:
    async with looks(database) as here:
        root = await here.failed()
        assert await here.operator.restart("send_sms", root) == f"{SMS}/{root}"
        shown = await here.operator.show(SMS, root)
        assert (shown.state, shown.supervisor_task_state) == ("open", "ready")
        assert [attempt.before_restart for attempt in shown.attempts] == [True]
        await here.attempt(root, None)
        await here.look(root)
        shown = await here.operator.show(SMS, root)
        assert shown.state == "succeeded"
        assert [attempt.outcome for attempt in shown.attempts] == ["failed", "succeeded"]
        audit = await here.calls.admin.fetchrow("select actor, action, subject from queues.audit")
        assert audit is not None
        assert (audit["action"], audit["subject"]) == ("restart_process", f"{SMS}/{root}")
        assert audit["actor"] == await here.calls.operator.fetchval("select session_user::text")


async def test_only_a_failed_process_can_be_started_again(database: Database) -> None:
    async with looks(database) as here:
        succeeded, fresh, failed = await here.succeeded(), await here.start(), await here.failed()
        with pytest.raises(InvalidMove, match=f"{SMS}/{succeeded} has succeeded"):
            await here.operator.restart(SMS, succeeded)
        with pytest.raises(InvalidMove, match=f"{SMS}/{fresh} is open") as error:
            await here.operator.restart(SMS, fresh)
        assert error.value.remedy.startswith("It continues automatically")
        with pytest.raises(NotFound):
            await here.operator.restart(SMS, 99)
        await here.operator.restart(SMS, failed)
        with pytest.raises(InvalidMove, match="is open"):
            await here.operator.restart(SMS, failed)
        assert await here.calls.admin.fetchval("select count(*) from queues.audit") == 1


async def test_a_process_of_an_account_that_is_stopped_does_not_start_again(database: Database) -> None:
    async with looks(database) as here:
        root = await here.failed()
        await here.calls.admin.execute(
            "select queues.stop_tenant($1, 'account-deletion')", here.acme.tenant_id
        )
        with pytest.raises(TenantClosed):
            await here.operator.restart(SMS, root)
        assert (await here.operator.show(SMS, root)).state == "failed"


async def test_problems_of_processes_are_counted_with_an_example(database: Database) -> None:
    async with looks(database) as here:
        await here.failed()
        last = await here.failed()
        swept, lost = await here.start(), await here.start()
        await here.calls.admin.execute(
            "update internal.open_root set swept = case when root_id = $1 then 4 else 3 end", swept
        )
        # Its supervisor's task is gone, as if it had died and been purged.
        await here.calls.admin.execute(
            "update internal.open_root set task_id = 999999 where root_id = $1", lost
        )
        await here.calls.clock.advance(minutes=3)
        assert set(await here.operator.unhealthy()) == {
            UnhealthyProcess("failed", SMS, 2, last),
            UnhealthyProcess("swept", SMS, 1, swept),
            UnhealthyProcess("unattended", SMS, 1, lost),
            UnhealthyProcess("open", SMS, 2, lost),
        }
        await here.calls.clock.advance(days=2)
        assert "failed" not in {each.finding for each in await here.operator.unhealthy()}


async def test_a_process_added_later_is_seen_too_and_must_be_named_with_its_schema(
    database: Database,
) -> None:
    async with looks(database) as here:
        await here.calls.admin.execute(GENERATED)
        await here.calls.admin.execute(
            "insert into trial.send_sms_task values (7, $1, $1, 0, internal.clock())", here.acme.tenant_id
        )
        assert [row.id for row in await here.operator.list()] == ["trial.send_sms/7"]
        shown = await here.operator.show("trial.send_sms", 7)
        assert shown.about == {"order_id": str(here.acme.tenant_id)}
        with pytest.raises(Conflict, match="2 processes are called 'send_sms'") as error:
            await here.operator.show("send_sms", 7)
        assert "comms.send_sms, trial.send_sms" in error.value.remedy


@pytest.mark.parametrize("name", ["'; drop table comms.sms_message; --", "comms.send_sms_task", "", 'a"b'])
async def test_a_name_that_is_not_registered_reaches_no_query(database: Database, name: str) -> None:
    async with looks(database) as here:
        for function in (here.operator.show, here.operator.restart):
            with pytest.raises(NotFound):
                await function(name, 1)


async def test_only_operators_see_processes_of_every_tenant_and_a_tenant_its_own(database: Database) -> None:
    async with looks(database) as here:
        root = await here.failed()
        await here.calls.admin.execute("set role penstock_reader")
        listed = await here.calls.admin.fetch("select * from all_tenants.list_roots()")
        shown = json.loads(await here.calls.admin.fetchval("select all_tenants.show_root($1, $2)", SMS, root))
        assert ([row["root_id"] for row in listed], shown["state"]) == ([root], "failed")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await here.calls.admin.execute("select all_tenants.restart_root($1, $2)", SMS, root)
        await here.calls.admin.execute("reset role")
        runtime = here.calls.runtime
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await runtime.fetch("select * from all_tenants.ailing_roots()")
        with pytest.raises(NoTenant), translated():
            await runtime.fetch("select * from all_tenants.list_roots()")
        seen = "select root_id from all_tenants.list_roots()"
        for query in ("show_root", "restart_root"):
            with pytest.raises(NotFound), translated():
                await runtime.fetch(f"select all_tenants.{query}('{SMS}', {root})")
            async with tenant_transaction(runtime, here.other):
                assert await runtime.fetch(seen) == []
                with pytest.raises(NotFound), translated():
                    await runtime.fetch(f"select all_tenants.{query}('{SMS}', {root})")
        async with tenant_transaction(runtime, here.acme):
            assert [row["root_id"] for row in await runtime.fetch(seen)] == [root]


async def test_the_deletion_of_an_account_starts_again_with_its_stuck_parts(database: Database) -> None:
    async with looks(database) as here:
        await here.calls.document(here.acme)
        request = (await here.calls.rows(here.acme, "api.request_account_deletion", here.acme.tenant_id))[0]
        root = request["account_deletion_task_id"]
        deletion = {"account_deletion_task_id": root}
        await here.calls.of(here.acme, "accounts.account_deletion_supervisor", deletion)
        (removal,) = await here.operator.list(process="files.file_deletion")
        of_file = {"file_deletion_task_id": removal.root_id}
        await here.calls.of(here.acme, "files.file_deletion_supervisor", of_file)
        attempt = await here.calls.admin.fetchval(
            "select file_deletion_attempt_id from files.file_deletion_attempt"
        )
        told = {"original_payload": {"file_deletion_attempt_id": attempt}, "error": "no", "retriable": False}
        await here.calls.of(here.acme, "files.record_file_delete_failure", told)
        await here.calls.of(here.acme, "files.file_deletion_supervisor", of_file)
        await here.calls.of(here.acme, "accounts.account_deletion_supervisor", deletion)
        shown = await here.operator.show("account_deletion", root)
        assert (shown.state, shown.about) == ("failed", {})
        assert "could not be removed: no" in str(shown.attempts[0].error_message)

        await here.operator.restart("account_deletion", root)
        assert (await here.operator.show("account_deletion", root)).state == "open"
        assert (await here.operator.show("file_deletion", removal.root_id)).state == "open"
