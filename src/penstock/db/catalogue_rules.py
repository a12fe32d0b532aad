"""Rules that every schema of Penstock and its users must follow, as queries that return the offenders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from penstock.db.types import Connection

SCHEMAS: Final = """
with own_schema as (
  select n.oid, n.nspname, n.nspowner, o.rolname as owner
  from pg_namespace n
  join pg_roles o on o.oid = n.nspowner
  where case
    when $1::text[] is null then o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
    else n.nspname = any ($1) end
), routine as (
  select p.*, h.nspname, h.nspowner, h.nspname || '.' || p.proname as name,
    p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype
      and p.prorettype = 'jsonb'::regtype and not p.proretset as is_business_shaped
  from pg_proc p
  join own_schema h on h.oid = p.pronamespace
), runtime as (
  select r.oid, r.rolname from pg_roles r
  where r.rolname in (
    'penstock_api', 'worker_service_user', 'service_role', 'penstock_reader',
    'penstock_runtime', 'penstock_operator')
), registered as (
  select b.* from internal.business_function b
  where $1::text[] is null or split_part(b.function_name, '.', 1) = any ($1)
), business as (
  select p.* from routine p join registered b on b.function_name = p.name
), tenant_table as (
  select c.*, h.nspname from pg_class c join own_schema h on h.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not (
    coalesce(obj_description(c.oid, 'pg_class'), '') like 'shared: %' and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped))
)
"""
"""CTEs the rules are written with; $1 is the list of schemas to check, null for all of Penstock's."""


@dataclass(frozen=True, slots=True)
class CatalogueRule:
    promise: str
    offenders: str
    """A query over SCHEMAS that returns the names of the offenders."""
    remedy: str


EVERYWHERE: Final = (
    CatalogueRule(
        "a function belongs to the owner of its schema",
        "select name from routine where proowner <> nspowner",
        "create it in a file of SCHEMA/functions",
    ),
    CatalogueRule(
        "an owner has no privilege beyond what it owns",
        """
        select h.nspname from own_schema h join pg_roles o on o.oid = h.nspowner
        where o.rolsuper or o.rolbypassrls or o.rolcanlogin or o.rolreplication
          or o.rolcreaterole or o.rolcreatedb
          or exists (
            select from pg_auth_members m
            where m.member = o.oid and m.roleid::regrole::text <> 'pg_read_all_stats')
        union all
        select p.name from routine p join pg_roles o on o.oid = p.proowner
        where o.rolsuper or o.rolbypassrls or o.rolcanlogin
        """,
        "write: create schema NAME authorization penstock_owner",
    ),
    CatalogueRule(
        "a definer's search_path is pinned",
        """
        select name from routine
        where prosecdef and not coalesce(proconfig, '{}')
          && array['search_path=pg_catalog, pg_temp', 'search_path=""']
        """,
        "write: set search_path = pg_catalog, pg_temp",
    ),
    CatalogueRule(
        "nothing is granted to public",
        """
        select p.name from routine p
        cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee = 0
        union all
        select h.nspname from own_schema h join pg_namespace n using (oid)
        cross join lateral aclexplode(n.nspacl) a
        where a.grantee = 0
        """,
        "grant it to the roles that need it, not to public",
    ),
    CatalogueRule(
        "a registered function exists once and has the signature of a business function",
        """
        select b.function_name from registered b
        where (
          select count(*) from routine p
          where p.name = b.function_name and p.is_business_shaped and p.prosecdef
            and p.proconfig @> array['search_path=pg_catalog, pg_temp']) <> 1
          or (select count(*) from routine p where p.name = b.function_name) <> 1
        """,
        "write: function(_payload jsonb) returns jsonb, security definer, "
        "set search_path = pg_catalog, pg_temp",
    ),
    CatalogueRule(
        "only workers may call a registered function",
        """
        select p.name from business p
        where not has_function_privilege('worker_service_user', p.oid, 'execute')
        union all
        select p.name || ' by ' || coalesce(nullif(a.grantee, 0)::regrole::text, 'public')
        from business p
        cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee <> p.proowner and a.grantee <> 'worker_service_user'::regrole
        """,
        "remove the grant: internal.register_process gives workers theirs",
    ),
    CatalogueRule(
        "a function named like part of a process is registered",
        r"""
        select p.name from routine p
        where p.proname like any (array['%\_supervisor', 'record\_%', 'get\_%\_payload'])
          and not exists (select from internal.business_function b where b.function_name = p.name)
        """,
        "register it with internal.register_process, or give it another name",
    ),
    CatalogueRule(
        "a function from jsonb to jsonb that a worker may call is registered",
        """
        select p.name from routine p
        where p.is_business_shaped and has_function_privilege('worker_service_user', p.oid, 'execute')
          and not exists (select from internal.business_function b where b.function_name = p.name)
        """,
        "register it with internal.register_process, or revoke the grant",
    ),
    CatalogueRule(
        "the worker has no privilege on a table or sequence",
        """
        select c.oid::regclass::text from pg_class c join own_schema h on h.oid = c.relnamespace
        where c.relname <> 'test_clock' and case
          when c.relkind = 'S' then
            has_sequence_privilege('worker_service_user', c.oid, 'usage, select, update')
          when c.relkind in ('r', 'p', 'v', 'm', 'f') then
            has_table_privilege(
              'worker_service_user', c.oid, 'select, insert, update, delete, truncate, references, trigger')
            or has_any_column_privilege(
              'worker_service_user', c.oid, 'select, insert, update, references') end
        """,
        "let it call a function instead",
    ),
    CatalogueRule(
        "no function has an overload",
        "select name from routine group by name having count(*) > 1",
        "give one of them another name",
    ),
)
"""Penstock's tests check its own schemas against these."""

OF_USERS: Final = (
    CatalogueRule(
        "a schema belongs to penstock_owner",
        "select nspname from own_schema where owner <> 'penstock_owner'",
        "write: create schema NAME authorization penstock_owner",
    ),
    CatalogueRule(
        "a table carries its tenant and forces row security",
        """
        select c.oid::regclass::text from tenant_table c
        where not (c.relrowsecurity and c.relforcerowsecurity and exists (
            select from pg_attribute a
            where a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull
              and a.atttypid = 'uuid'::regtype)
            and array['own_tenant', 'sees_all_tenants'] = (
              select array_agg(p.polname::text order by p.polname) from pg_policy p where p.polrelid = c.oid))
        """,
        "give it a column tenant_id uuid not null and no policy of its own; if every tenant may know what it "
        "holds, say so: comment on table NAME is 'shared: …'",
    ),
    CatalogueRule(
        "only penstock_all_tenants has a privilege on a table",
        """
        select c.oid::regclass::text || ' by ' || coalesce(r.rolname, 'public')
        from pg_class c
        join own_schema h on h.oid = c.relnamespace
        cross join lateral aclexplode(c.relacl) a
        left join pg_roles r on r.oid = a.grantee
        where c.relkind in ('r', 'p', 'v', 'm', 'S')
          and a.grantee <> c.relowner and r.rolname is distinct from 'penstock_all_tenants'
          and (c.relkind, r.rolname, a.privilege_type) is distinct from ('v', 'service_role', 'SELECT')
        """,
        "grant execute on a function instead; operators (service_role) may read a view",
    ),
    CatalogueRule(
        "a foreign key has an index",
        """
        select k.conrelid::regclass::text || ' (' || k.conname || ')'
        from pg_constraint k
        join pg_class c on c.oid = k.conrelid
        join own_schema h on h.oid = c.relnamespace
        where k.contype = 'f' and not exists (
          select from pg_index i where i.indrelid = k.conrelid and i.indkey[0] = any (k.conkey))
        """,
        "create an index that starts with its column: deleting what it refers to would read the whole table",
    ),
    CatalogueRule(
        "a table that no process keeps is forgotten with its tenant",
        """
        select c.oid::regclass::text from tenant_table c
        where not c.relispartition
          and to_regprocedure(format('%I.forget_tenant(uuid)', c.nspname)) is null
          and not exists (
            select from internal.process p
            where c.nspname || '.' || c.relname in (
              p.process || '_task', p.process || '_attempt', p.process || '_attempt_succeeded',
              p.process || '_attempt_failed'))
        """,
        "add SCHEMA.forget_tenant(_tenant_id uuid), which deletes or overwrites the tenant's rows: the "
        "deletion of an account calls it",
    ),
)
"""Users' schemas must follow these as well; checked at each migration."""


async def offenders(
    connection: Connection, rule: CatalogueRule, schemas: list[str] | None = None
) -> list[str]:
    """The names of the offenders against a rule, sorted; in these schemas, or in all of Penstock's."""
    return sorted({row[0] for row in await connection.fetch(SCHEMAS + rule.offenders, schemas)})


async def broken_rules(connection: Connection, schemas: list[str]) -> tuple[str, ...]:
    """Each rule that the user's own schemas break, with the offenders and what to write instead."""
    found = [(rule, await offenders(connection, rule, schemas)) for rule in (*OF_USERS, *EVERYWHERE)]
    return tuple(f"{', '.join(names)}: {rule.promise} ({rule.remedy})" for rule, names in found if names)
