-- Adds the cost of an embedding run to the tenant's day. Raises PS012, PS017.
create or replace function accounts.note_usage(_model text, _tokens bigint, _calls bigint, _texts bigint, _reused bigint)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into accounts.usage as u (tenant_id, day, model, tokens, calls, texts, reused)
  values (
    (ingest.open_tenant()).tenant_id, (internal.clock() at time zone 'UTC')::date, _model, _tokens, _calls, _texts, _reused)
  on conflict (tenant_id, day, model) do update set
    tokens = u.tokens + excluded.tokens, calls = u.calls + excluded.calls, texts = u.texts + excluded.texts,
    reused = u.reused + excluded.reused;
$$;
