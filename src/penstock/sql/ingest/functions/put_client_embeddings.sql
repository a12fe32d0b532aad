-- Stores embeddings of clients whose text is still the one that was embedded, and returns how many. _vectors: the same in the text
-- form that pgvector reads; without them the trigger on the table converts each, which takes twice as long. Nested loops: a hash
-- join would make the texts of all of the tenant's clients to find those given. Locks: the client rows, by id. Raises PS012.
create or replace function ingest.put_client_embeddings(
  _model text, _client_ids uuid[], _text_sha256s bytea[], _embeddings bytea[], _vectors text[] default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_with_vectors boolean := _vectors is not null and to_regclass('ingest.client_vector') is not null;
  v_written uuid[];
begin
  perform from ingest.client_intelligence c
  where c.tenant_id = v_tenant_id and c.client_id = any (_client_ids)
  order by c.external_id, c.client_id
  for no key update;
  perform set_config('penstock.client_vectors', case when v_with_vectors then 'given' else '' end, true);
  with current as materialized (
    select g.client_id, g.text_sha256, g.embedding
    from unnest(_client_ids, _text_sha256s, _embeddings) as g (client_id, text_sha256, embedding)
    cross join lateral (
      select ingest.client_embedding_text(o.client_name, o.industry, o.summary, o.key_facts) as text
      from ingest.client_intelligence o
      where o.tenant_id = v_tenant_id and o.client_id = g.client_id
      offset 0) t
    where sha256(convert_to(t.text, 'utf8')) = g.text_sha256
  ), written as (
    update ingest.client_intelligence c set
      embedding = g.embedding, embedding_model = _model, embedding_text_sha256 = g.text_sha256
    from current g
    where c.tenant_id = v_tenant_id and c.client_id = g.client_id
    returning c.client_id
  )
  select coalesce(array_agg(w.client_id), '{}') into v_written from written w;
  perform set_config('penstock.client_vectors', '', true);
  if v_with_vectors then
    execute format(
      'insert into ingest.client_vector (client_id, tenant_id, model, embedding)
       select g.client_id, $1, $2, g.vector::%s.halfvec
       from unnest($3, $4) as g (client_id, vector)
       where g.client_id = any ($5)
       on conflict (client_id) do update set model = excluded.model, embedding = excluded.embedding',
      ingest.vector_schema())
    using v_tenant_id, _model, _client_ids, _vectors, v_written;
  end if;
  return cardinality(v_written);
end;
$$;
