-- What an operator should know about notifications of providers, over all tenants: how many sources of these kinds are active,
-- pending, expired or failed, the newest error; how many sources a person must connect again, how many of these belong
-- to a tenant without a contact; and how many tenants with such sources have none.
create or replace function all_tenants.push_health(_kinds text[])
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with
    mailbox as (
      select s.source_id, s.status, t.tenant_id, t.contact_email, ingest.push_of(s) as push
      from ingest.source s join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
      where s.kind = any (_kinds) and s.removed_at is null and s.status <> 'paused')
  select jsonb_build_object(
    'sources', (select count(*) from mailbox),
    'states', (
      select coalesce(jsonb_object_agg(c.state, c.sources), '{}') from (
        select m.push ->> 'state' as state, count(*) as sources from mailbox m group by 1) c),
    'error_code', (
      select m.push ->> 'code' from mailbox m where m.push ->> 'state' in ('expired', 'failed')
      order by m.push ->> 'next_try_at' desc nulls last limit 1),
    'reconnect', (select count(*) from ingest.source s where s.status = 'error' and s.removed_at is null),
    'reconnect_untold', (
      select count(*) from ingest.source s join accounts.tenant t on t.tenant_id = s.tenant_id
      where s.status = 'error' and s.removed_at is null and t.status = 'active' and t.contact_email is null),
    'without_contact', (select count(distinct m.tenant_id) from mailbox m where m.contact_email is null));
$$;
