-- Adds an inlet, or changes the one of this name and source; returns its id. A source that was removed comes back with its
-- ledger, so that nothing is taken twice. `_task_types`: the only types its messages may name; null is any. Leaves an audit
-- row. Raises PS001, PS005, PS013, PS014.
create or replace function queues.put_inlet(
  _name text,
  _kind text,
  _source text,
  _config jsonb default '{}',
  _tenant text default null,
  _task_types text[] default null,
  _retention interval default interval '31 days'
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id integer;
  v_tenant_id uuid;
  v_other text;
begin
  if _name is null or _name !~ '^[a-z][a-z0-9_.-]{0,62}$' or _name in ('add', 'list', 'pause', 'remove', 'replay', 'resume', 'show') then
    raise exception using errcode = 'PS005', detail = 'name',
      message = format('%L is not a valid name for an inlet', _name),
      hint = 'Use a lower-case letter, then letters, digits, _ . or -, at most 63, and none of: add, list, pause, remove, replay, resume, show.';
  end if;
  if _kind is null or _kind !~ '^[a-z][a-z0-9_]{0,30}$' or coalesce(_source, '') = '' or length(_source) > 1000 then
    raise exception using errcode = 'PS005', detail = case when _kind ~ '^[a-z][a-z0-9_]{0,30}$' then 'source' else 'kind' end,
      message = 'the kind or the source of the inlet is missing or not valid',
      hint = 'Give a kind such as sqs, and a source such as sqs:https://… of at most 1,000 characters.';
  end if;
  if jsonb_typeof(_config) is distinct from 'object' or not coalesce(_retention > interval '0', false)
    or cardinality(_task_types) = 0
  then
    raise exception using errcode = 'PS005',
      detail = case when jsonb_typeof(_config) is distinct from 'object' then 'config'
        when cardinality(_task_types) = 0 then 'task_types' else 'retention' end,
      message = 'the settings of the inlet are not a JSON object, its list of types is empty, or its retention is not positive',
      hint = 'Give an object, at least one type or null for any, and a retention above zero.';
  end if;
  if _tenant is not null then
    select t.tenant_id into v_tenant_id from all_tenants.tenants_named(array[_tenant]) t;
    if not found then
      raise exception using errcode = 'PS013', detail = 'tenant',
        message = format('there is no tenant %L', left(_tenant, 80)),
        hint = 'Create it: penstock tenant create; or name another (penstock tenant list).';
    end if;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('put inlet', 0));
  select i.source into v_other from queues.inlet i where i.name = _name and i.removed_at is null and i.source <> _source;
  if found then
    raise exception using errcode = 'PS014', detail = 'name',
      message = format('the inlet %L exists already and reads %s', _name, v_other),
      hint = format('Choose another name, or remove it first: penstock inlet remove %s', _name);
  end if;
  select i.name into v_other from queues.inlet i where i.source = _source and i.removed_at is null and i.name <> _name;
  if found then
    raise exception using errcode = 'PS014', detail = 'source',
      message = format('the inlet %L reads %s already', v_other, _source),
      hint = format('Use it, or remove it first: penstock inlet remove %s', v_other);
  end if;
  insert into queues.inlet as i (name, kind, source, tenant_id, task_types, config, retention, created_at)
  values (_name, _kind, _source, v_tenant_id, _task_types, _config, _retention, internal.clock())
  on conflict (source) do update set
    name = excluded.name,
    kind = excluded.kind,
    tenant_id = excluded.tenant_id,
    task_types = excluded.task_types,
    config = excluded.config,
    retention = excluded.retention,
    enabled = i.enabled or i.removed_at is not null,
    removed_at = null
  returning i.inlet_id into v_id;
  perform queues.note_audit('put inlet', _name, jsonb_build_object('kind', _kind));
  return v_id;
end;
$$;
