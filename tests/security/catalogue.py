"""What must hold for every function in every schema of the house, as queries that name the offenders."""

from __future__ import annotations

from penstock.db import Connection

HOUSE = """
with house as (
  select n.oid, n.nspname, n.nspowner, o.rolname as owner
  from pg_namespace n
  join pg_roles o on o.oid = n.nspowner
  where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_keeper')
), routine as (
  select p.*, h.nspname, h.nspowner, h.nspname || '.' || p.proname as name,
    p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype
      and p.prorettype = 'jsonb'::regtype as is_business_shaped
  from pg_proc p
  join house h on h.oid = p.pronamespace
), runtime as (
  select r.oid, r.rolname from pg_roles r
  where r.rolname in (
    'penstock_api', 'worker_service_user', 'service_role', 'penstock_reader',
    'penstock_runtime', 'penstock_operator')
), business as (
  select p.* from routine p join internal.business_function b on b.function_name = p.name
)
"""

CHECKS = {
    "a function belongs to the owner of its schema": """
        select name from routine where proowner <> nspowner
    """,
    "an owner has no power beyond what it owns": """
        select h.nspname from house h join pg_roles o on o.oid = h.nspowner
        where o.rolsuper or o.rolbypassrls or o.rolcanlogin or o.rolreplication
          or o.rolcreaterole or o.rolcreatedb
          or exists (
            select from pg_auth_members m
            where m.member = o.oid and m.roleid::regrole::text <> 'pg_read_all_stats')
        union all
        select p.name from routine p join pg_roles o on o.oid = p.proowner
        where o.rolsuper or o.rolbypassrls or o.rolcanlogin
    """,
    "a definer's search_path is pinned": """
        select name from routine
        where prosecdef and not coalesce(proconfig, '{}')
          && array['search_path=pg_catalog, pg_temp', 'search_path=""']
    """,
    "nothing is open to everybody": """
        select p.name from routine p
        cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee = 0
        union all
        select h.nspname from house h join pg_namespace n using (oid)
        cross join lateral aclexplode(n.nspacl) a
        where a.grantee = 0
    """,
    "what is registered is there, once, and has the shape of a business function": """
        select b.function_name from internal.business_function b
        where (
          select count(*) from routine p
          where p.name = b.function_name and p.is_business_shaped and p.prosecdef
            and p.proconfig @> array['search_path=pg_catalog, pg_temp']) <> 1
          or (select count(*) from routine p where p.name = b.function_name) <> 1
    """,
    "what is registered is called by workers and nobody else": """
        select p.name from business p
        where not has_function_privilege('worker_service_user', p.oid, 'execute')
        union all
        select p.name || ' by ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'public')
        from business p
        cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee <> p.proowner and a.grantee <> 'worker_service_user'::regrole
    """,
    "whatever is named like a part of a process is registered": """
        select p.name from routine p
        where p.proname like any (array['%\\_supervisor', 'record\\_%', 'get\\_%\\_payload'])
          and not exists (select from internal.business_function b where b.function_name = p.name)
    """,
    "whatever a worker may call with one jsonb for another is registered": """
        select p.name from routine p
        where p.is_business_shaped and has_function_privilege('worker_service_user', p.oid, 'execute')
          and not exists (select from internal.business_function b where b.function_name = p.name)
    """,
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
          and p.name <> 'internal.schema_version'
          and not (p.name in (
              'internal.run_function', 'internal.run_for_tenant', 'internal.run_and_complete',
              'internal.business_call', 'internal.succeeded')
            and r.rolname in ('worker_service_user', 'penstock_runtime'))
          -- row security asks it when operators read the views of facts
          and not (p.name = 'internal.tenant_id' and r.rolname in ('service_role', 'penstock_operator'))
    """,
    "the worker has no right on a table or sequence": """
        select c.oid::regclass::text from pg_class c join house h on h.oid = c.relnamespace
        where c.relname <> 'test_clock' and case
          when c.relkind = 'S' then
            has_sequence_privilege('worker_service_user', c.oid, 'usage, select, update')
          when c.relkind in ('r', 'p', 'v', 'm', 'f') then
            has_table_privilege(
              'worker_service_user', c.oid, 'select, insert, update, delete, truncate, references, trigger')
            or has_any_column_privilege(
              'worker_service_user', c.oid, 'select, insert, update, references') end
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
    return sorted({row[0] for row in await admin.fetch(HOUSE + CHECKS[check])})
