-- Makes one attempt to anonymize an account whose files are gone and whose lanes are stopped: overwrites what is personal in
-- the rows that stay, erases the rest, and flags the account. All of it or nothing.
-- Locks: the rows it overwrites and deletes, then the tables against vacuum and other samples. Raises PS011, PS012.
create or replace function accounts.anonymize_account(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, 'account_anonymization_attempt_id');
  v_tenant_id uuid;
  v_contents text;
  v_removed jsonb;
  v_overwritten jsonb;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'account_anonymization_attempt_id must be the number of an attempt');
  end if;
  select a.tenant_id into v_tenant_id from accounts.account_anonymization_attempt a
  join accounts.account_flag g on g.tenant_id = a.tenant_id and g.flag = 'deleted'
  where a.tenant_id = internal.require_tenant() and a.account_anonymization_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no account_anonymization attempt %s', v_attempt_id));
  end if;

  select encode(sha256(coalesce(string_agg(f.content_sha256, ''::bytea order by f.file_id), ''::bytea)), 'hex')
  into v_contents from files.file f where f.tenant_id = v_tenant_id;
  v_removed := jsonb_build_object(
    'files', (select count(*) from files.file f where f.tenant_id = v_tenant_id),
    'bytes', (select coalesce(sum(f.size_bytes), 0) from files.file f where f.tenant_id = v_tenant_id),
    'documents', (select count(*) from ingest.document d where d.tenant_id = v_tenant_id),
    'chunks', (select coalesce(sum(d.chunk_count), 0) from ingest.document d where d.tenant_id = v_tenant_id))
    || (
      select case when count(*) > 0 then jsonb_build_object(
        'tokens_revoked', count(*) filter (where r.outcome = 'revoked'),
        'tokens_not_revoked', count(*) filter (where r.outcome is distinct from 'revoked')) else '{}' end
      from ingest.revocation r where r.tenant_id = v_tenant_id)
    || internal.erase_tenant(v_tenant_id);
  v_overwritten := accounts.overwrite_personal(v_tenant_id);
  perform accounts.overwrite_facts(v_tenant_id);
  -- Postgres's statistics keep samples of values from the tenants' tables.
  perform internal.sample_anew(array(
    select c.oid::regclass
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition and c.relowner = current_user::regrole
    order by c.oid));
  insert into accounts.account_flag (tenant_id, flag, created_at) values (v_tenant_id, 'anonymized', internal.clock())
  on conflict do nothing;
  return jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object(
    'removed', v_removed, 'overwritten', v_overwritten, 'contents_sha256', v_contents));
end;
$$;
