"""Every function has the right owner, search_path and grants, and one that has not is found."""

from __future__ import annotations

import pytest

from tests.plugins.database import Database
from tests.security.catalogue import CHECKS, offenders

BODY = "language sql as 'select _payload'"
PINNED = "security definer set search_path = pg_catalog, pg_temp"

BAD: dict[str, tuple[str, list[str]]] = {
    "a function belongs to the owner of its schema": (
        f"create function comms.stray(_payload jsonb) returns jsonb {BODY}",
        ["comms.stray"],
    ),
    "an owner has no privilege beyond what it owns": (
        f"create function comms.stray(_payload jsonb) returns jsonb {BODY}",
        ["comms.stray"],
    ),
    "a definer's search_path is pinned": (
        f"""
        create function comms.unpinned(_payload jsonb) returns jsonb security definer {BODY};
        create function all_tenants.half(_payload jsonb) returns jsonb security definer
          set search_path = pg_catalog {BODY};
        create function api.open_path(_payload jsonb) returns jsonb security definer
          set search_path = "$user", public {BODY};
        """,
        ["all_tenants.half", "api.open_path", "comms.unpinned"],
    ),
    "nothing is granted to public": (
        f"""
        create function queues.open(_payload jsonb) returns jsonb {BODY};
        create function vault.closed(_payload jsonb) returns jsonb {BODY};
        revoke all on function vault.closed from public;
        grant usage on schema api to public;
        """,
        ["api", "queues.open"],
    ),
    "a registered function exists once and has the signature of a business function": (
        f"""
        alter function comms.get_sms_payload set search_path = public;
        alter function comms.record_sms_success security invoker;
        create function comms.record_sms_failure(_payload text) returns text {BODY};
        drop function files.get_file_delete_payload;
        """,
        [
            "comms.get_sms_payload", "comms.record_sms_failure", "comms.record_sms_success",
            "files.get_file_delete_payload",
        ],
    ),
    "only workers may call a registered function": (
        """
        grant execute on function comms.get_email_payload to penstock_api;
        grant execute on function comms.get_sms_payload to public;
        grant execute on function accounts.anonymize_account to penstock_all_tenants;
        revoke execute on function comms.record_email_success from worker_service_user;
        """,
        [
            "accounts.anonymize_account by penstock_all_tenants", "comms.get_email_payload by penstock_api",
            "comms.get_sms_payload by public", "comms.record_email_success",
        ],
    ),
    "a function named like part of a process is registered": (
        f"""
        create function api.send_letter_supervisor(_payload jsonb) returns jsonb {PINNED} {BODY};
        create function files.record_letter_success(_payload jsonb) returns jsonb {PINNED} {BODY};
        create function comms.get_letter_payload(_payload jsonb) returns jsonb {PINNED} {BODY};
        create function comms.recording(_payload jsonb) returns jsonb {PINNED} {BODY};
        delete from internal.business_function where function_name = 'comms.record_email_failure';
        """,
        [
            "api.send_letter_supervisor", "comms.get_letter_payload", "comms.record_email_failure",
            "files.record_letter_success",
        ],
    ),
    "a function from jsonb to jsonb that a worker may call is registered": (
        f"""
        create function comms.letter(_payload jsonb) returns jsonb {PINNED} {BODY};
        revoke all on function comms.letter from public;
        grant execute on function comms.letter to worker_service_user;
        """,
        ["comms.letter"],
    ),
    "the runners have their caller's rights and workers alone call them": (
        """
        alter function internal.run_function security definer;
        grant execute on function internal.run_for_tenant to service_role;
        """,
        ["internal.run_for_tenant", "internal.run_function"],
    ),
    "the machinery is closed to logins": (
        """
        grant execute on function internal.erase_tenant to worker_service_user;
        grant execute on function queues.stop_tenant to service_role;
        grant execute on function accounts.overwrite_personal to penstock_reader;
        grant execute on function internal.register_process to penstock_api;
        """,
        [
            "accounts.overwrite_personal by penstock_operator",
            "accounts.overwrite_personal by penstock_reader",
            "internal.erase_tenant by penstock_runtime", "internal.erase_tenant by worker_service_user",
            "internal.register_process by penstock_api", "internal.register_process by penstock_operator",
            "internal.register_process by penstock_runtime", "queues.stop_tenant by penstock_operator",
            "queues.stop_tenant by service_role",
        ],
    ),
    "the worker has no privilege on a table or sequence": (
        """
        grant select (subject) on comms.email_message to worker_service_user;
        grant usage on sequence queues.task_id_seq to worker_service_user;
        grant delete on internal.open_root to public;
        """,
        ["comms.email_message", "internal.open_root", "queues.task_id_seq"],
    ),
    "no function has an overload": (
        f"create function comms.get_sms_payload(_payload text) returns text {BODY}",
        ["comms.get_sms_payload"],
    ),
    "no login makes anything in a schema or the database": (
        """
        grant create on schema comms to penstock_api;
        create schema evil;
        grant create on schema evil to penstock_reader;
        """,
        [
            "comms by penstock_api", "comms by penstock_operator", "comms by penstock_runtime",
            "evil by penstock_operator", "evil by penstock_reader",
        ],
    ),
}  # fmt: skip
"""For each check something bad that an administrator could leave behind, and whom the check must name."""


@pytest.mark.parametrize("check", CHECKS)
async def test_every_function_in_every_schema_keeps_the_rules(database: Database, check: str) -> None:
    async with database.connect("admin") as admin:
        assert await offenders(admin, check) == []


@pytest.mark.parametrize("check", CHECKS)
async def test_a_function_that_breaks_a_rule_is_found(database: Database, check: str) -> None:
    bad, found = BAD[check]
    async with database.connect("admin") as admin:
        await admin.execute(bad)
        assert await offenders(admin, check) == found


async def test_the_checks_cover_every_schema(database: Database) -> None:
    """A check of nothing finds nothing: the schemas and functions it must know are there."""
    async with database.connect("admin") as admin:
        schemas = {
            row[0]
            for row in await admin.fetch(
                "select nspname from pg_namespace where nspowner::regrole::text like 'penstock%'"
            )
        }
        registered = await admin.fetchval("select count(*) from internal.business_function")
    assert {
        "accounts", "all_tenants", "api", "comms", "files", "ingest", "internal", "queues", "search",
        "vault",
    } <= schemas  # fmt: skip
    assert registered >= 17


async def test_a_function_that_cannot_be_a_part_is_not_registered(database: Database) -> None:
    async with database.connect("admin") as admin:
        await admin.execute(
            f"create function comms.loose_supervisor(_payload jsonb) returns jsonb security definer {BODY}"
        )
        with pytest.raises(Exception, match="cannot be the supervisor") as refused:
            await admin.execute(
                "select internal.register_process("
                "'comms.loose', 'email', '{\"supervisor\": \"comms.loose_supervisor\"}')"
            )
        assert getattr(refused.value, "sqlstate", None) == "PS018"
        assert not await admin.fetchval(
            "select exists (select from internal.business_function where process = 'comms.loose')"
        )


async def test_registering_again_takes_the_function_from_all_but_workers(database: Database) -> None:
    check = "only workers may call a registered function"
    async with database.connect("admin") as admin:
        await admin.execute("grant execute on function comms.send_sms_supervisor to service_role, public")
        assert await offenders(admin, check) != []
        await admin.execute(
            """
            select internal.register_process('comms.send_sms', 'sms', jsonb_object_agg(part, function_name))
            from internal.business_function where process = 'comms.send_sms'
            """
        )
        assert await offenders(admin, check) == []
