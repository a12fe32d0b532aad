-- Client rows of a source whose text or model is not the one they were embedded with, by external id, from that of _after on
-- (from the first if it is gone). In this order an index has them, so that a batch makes the texts of its own rows only.
-- Raises PS012.
create or replace function ingest.clients_to_embed(_source_id uuid, _model text, _after uuid default null, _limit integer default 500)
returns table (client_id uuid, text text, text_sha256 bytea)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_sort = off
set enable_bitmapscan = off
as $$
  select c.client_id, t.text, t.text_sha256
  from ingest.client_intelligence c
  cross join lateral (
    select x.text, sha256(convert_to(x.text, 'utf8')) as text_sha256
    from (select ingest.client_embedding_text(c.client_name, c.industry, c.summary, c.key_facts) as text offset 0) x) t
  where c.tenant_id = internal.require_tenant() and c.source_id = _source_id and c.external_id >= coalesce((
      select a.external_id from ingest.client_intelligence a where a.client_id = _after), '')
    and c.client_id is distinct from _after
    and (c.embedding_model is distinct from _model or c.embedding_text_sha256 is distinct from t.text_sha256)
  order by c.external_id
  limit _limit;
$$;
