-- Tells pages that things changed, named like "document:ID" or "queues", separated by commas: to those who follow this tenant
-- and to operators; without a tenant to operators only. NOTIFY takes one cluster-wide lock at commit, so it is sent only while
-- somebody follows changes. Equal messages of one transaction are one.
create or replace function internal.announce(_tenant_id uuid, _names text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.watched_until() is not null then
    perform pg_notify('penstock_changed', coalesce(_tenant_id::text, '-') || ' ' || _names);
  end if;
end;
$$;
