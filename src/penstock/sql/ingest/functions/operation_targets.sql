-- What an operation would act on: everything that matches its filter and was there, and as it is, at _before. `state` says in
-- which state each is. For a transaction without a tenant: what belongs to all tenants, or tasks, dead letters, processes, sessions and
-- operations of every tenant, or of the one the filter names.
-- Runs with its caller's rights. Raises PS005, PS012, PS013.
create or replace function ingest.operation_targets(
  _action text, _filter jsonb, _before timestamptz, _limit bigint default null
)
returns table (item text, tenant_id uuid, state text)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  v_tenant_id uuid := internal.tenant_id();
  v_all boolean := v_tenant_id is null;
  v_text text;
begin
  case split_part(_action, '.', 1)
    when 'documents' then
      v_text := ingest.document_text_condition(_filter, 'd');
      return query execute format(
        'select d.document_id::text, d.tenant_id, d.status::text from ingest.document d
         where %s %s and d.updated_at <= %L limit %L',
        ingest.document_where(_filter), v_text, _before, _limit);
    when 'decisions' then
      perform ingest.refuse_filter(_filter, array['source_id', 'reason', 'name', 'ids']);
      return query
      select d.decision_id::text, d.tenant_id,
        case when d.outcome = 'restored' then 'restored' when d.skip_reason = 'link' then 'link' else 'skipped' end
      from ingest.decision d
      where d.tenant_id = internal.require_tenant() and d.verdict = 'drop' and d.decided_at <= _before
        and (not _filter ? 'ids' or d.decision_id = any (array(
          select i.id::uuid from jsonb_array_elements_text(_filter -> 'ids') as i (id))))
        and (_filter ->> 'source_id' is null or d.source_id = (_filter ->> 'source_id')::uuid)
        and (_filter ->> 'reason' is null or d.skip_reason = _filter ->> 'reason')
        and (_filter ->> 'name' is null or d.name = _filter ->> 'name')
      limit _limit;
    when 'sources' then
      perform ingest.refuse_filter(_filter, array['kind', 'state', 'project', 'q', 'ids']);
      return query
      select s.source_id::text, s.tenant_id, s.state from ingest.find_sources(_filter, _before) s limit _limit;
    when 'clients' then
      perform ingest.refuse_filter(_filter, array['query', 'ids']);
      return query
      select g.client_id::text, g.tenant_id, g.state from ingest.find_group_targets(_filter, _before) g limit _limit;
    when 'keys', 'sessions' then
      return query select t.item, t.tenant_id, t.state from ingest.access_targets(_action, _filter, _before) t limit _limit;
    when 'operations' then
      perform ingest.refuse_filter(_filter, array['state', 'ids']);
      -- One that cancels is not cancelled: two of them would wait for each other's row.
      return query
      select o.operation_id::text, nullif(o.tenant_id, internal.no_tenant()),
        case when o.action::text = 'operations.cancel' then 'cancelling' else o.state::text end
      from ingest.operation o
      where (v_all or o.tenant_id = v_tenant_id) and o.started_at < _before
        and (_filter ->> 'state' is null or o.state::text = any (string_to_array(_filter ->> 'state', ',')))
        and (not _filter ? 'ids' or _filter -> 'ids' ? o.operation_id::text)
      limit _limit;
    when 'workers', 'queues', 'schedules', 'inlets' then
      perform ingest.refuse_filter(_filter,
        array['state', 'q', 'ids'] || case when _action like 'workers.%' then array['queue'] else '{}' end);
      return query
      select p.item, null::uuid, p.state from queues.find_parts(split_part(_action, '.', 1), _filter, _before) p limit _limit;
    else
      if v_all and _filter ? 'tenant' then
        select t.tenant_id into v_tenant_id from accounts.tenant t where t.slug = _filter ->> 'tenant';
        if not found then
          raise exception using errcode = 'PS013', detail = 'tenant',
            message = format('there is no tenant %s', _filter ->> 'tenant'), hint = 'List the tenants: penstock tenant list';
        end if;
        v_all := false;
      end if;
      if _action like 'processes.%' then
        perform ingest.refuse_filter(_filter, array['process', 'state', 'tenant', 'ids']);
        return query select r.item, r.tenant_id, r.state from all_tenants.find_roots(_filter, v_tenant_id, _before, _limit) r;
      elsif split_part(_action, '.', 1) = 'dead' then
        perform ingest.refuse_filter(_filter,
          array['queue', 'task_type', 'fingerprint', 'error_code', 'reason', 'died_before', 'tenant', 'ids']);
        return query
        select t.task_id::text, t.tenant_id, 'dead' from queues.find_dead_targets(_filter, v_tenant_id, v_all, _before, _limit) t;
      else
        perform ingest.refuse_filter(_filter, array['state', 'queue', 'task_type', 'tenant', 'ids']);
        return query
        select t.task_id::text, t.tenant_id, t.state from queues.find_targets(_filter, v_tenant_id, v_all, _before, _limit) t;
      end if;
  end case;
end;
$$;
