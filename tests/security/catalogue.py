"""What must hold for every function in every schema: the rules users are held to, and some more."""

from __future__ import annotations

from penstock.db import Connection
from penstock.db.catalogue_rules import EVERYWHERE, SCHEMAS

CHECKS = {rule.promise: rule.offenders for rule in EVERYWHERE} | {
    "the runners have their caller's rights and workers alone call them": """
        select p.name from routine p
        where p.name like 'internal.run\\_%'
          and (p.prosecdef or exists (
            select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            where a.grantee <> p.proowner and a.grantee <> 'worker_service_user'::regrole))
        union all
        select 'internal.run_function is not one function' from routine p
        where p.name = 'internal.run_function' having count(*) <> 1
    """,
    "the machinery is closed to logins": """
        select p.name || ' by ' || r.rolname from routine p cross join runtime r
        where has_function_privilege(r.oid, p.oid, 'execute')
          and (p.nspname = 'internal' or p.name in (
            'queues.erase_history', 'queues.stop_tenant', 'queues.empty_lanes', 'queues.withdraw',
            'queues.note_bad_end', 'accounts.overwrite_personal', 'accounts.write_deletion_receipt',
            'accounts.kickoff_account_deletion', 'accounts.kickoff_account_anonymization',
            'files.mark_file_deleted'))
          and p.name not in ('internal.schema_version', 'internal.own_versions')
          and not (p.name in (
              'internal.run_function', 'internal.run_for_tenant', 'internal.run_and_complete',
              'internal.business_call', 'internal.succeeded')
            and r.rolname in ('worker_service_user', 'penstock_runtime'))
          -- it shows the time, and nothing else
          and not (p.name = 'internal.clock'
            and r.rolname in ('worker_service_user', 'penstock_runtime', 'service_role', 'penstock_operator'))
          -- row security asks it when operators read the views of facts
          and not (p.name = 'internal.tenant_id' and r.rolname in ('service_role', 'penstock_operator'))
    """,
    "no login makes anything in a schema or the database": """
        select n.nspname || ' by ' || r.rolname from pg_namespace n cross join runtime r
        where n.nspname !~ '^pg_(toast_)?temp_' and has_schema_privilege(r.oid, n.oid, 'create')
        union all
        select 'the database by ' || r.rolname from runtime r
        where has_database_privilege(r.oid, current_database(), 'create')
    """,
}


async def offenders(admin: Connection, check: str) -> list[str]:
    """The names of what breaks a promise, sorted."""
    return sorted({row[0] for row in await admin.fetch(SCHEMAS + CHECKS[check], None)})
