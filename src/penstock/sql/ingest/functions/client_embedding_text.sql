-- What is embedded of a client: its name, industry, summary and facts, as search shows them.
create or replace function ingest.client_embedding_text(
  _client_name text, _industry text, _summary text, _key_facts jsonb
)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select left(concat_ws(E'\n', _client_name, _industry, _summary, (
    select string_agg(replace(f.key, '_', ' ') || ': ' || f.value, E'\n' order by f.key)
    from jsonb_each_text(_key_facts) f)), 8000);
$$;
