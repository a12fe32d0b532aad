-- Keys and sessions that an operation would act on, with the state of each. Keys belong to a tenant; without one, sessions are those of
-- every tenant and of the installation, or of the one the filter names. Runs with its caller's rights. Raises PS005, PS012.
create or replace function ingest.access_targets(_action text, _filter jsonb, _before timestamptz)
returns table (item text, tenant_id uuid, state text)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  v_row text;
begin
  if _action like 'keys.%' then
    perform ingest.refuse_filter(_filter, array['state', 'q', 'ids', 'own']);
    return query select k.key_id::text, k.tenant_id, k.state from accounts.find_keys(_filter, _before) k;
    return;
  end if;
  perform ingest.refuse_filter(_filter, array['tenant', 'q', 'ids', 'own']);
  v_row := 'select s.session_id::text, %s, case when s.session_id::text = $1 ->> ''own'' then ''own'' else ''live'' end
    from %s where %s and s.created_at <= $2
      and ($1 ->> ''q'' is null or strpos(lower(s.name), lower($1 ->> ''q'')) > 0)
      and (not $1 ? ''ids'' or $1 -> ''ids'' ? s.session_id::text)';
  return query execute format(v_row, 's.tenant_id',
    'accounts.session s join accounts.tenant t on t.tenant_id = s.tenant_id',
    'accounts.is_live(s) and ($1 ->> ''tenant'' is null or t.slug = $1 ->> ''tenant'')
      and (internal.tenant_id() is null or s.tenant_id = internal.tenant_id())')
  using _filter, _before;
  if internal.tenant_id() is null and not _filter ? 'tenant' then
    return query execute format(v_row, 'null::uuid', 'internal.operator_session s',
      's.revoked_at is null and s.expires_at > internal.clock()')
    using _filter, _before;
  end if;
end;
$$;
