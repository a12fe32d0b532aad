-- Caches embeddings for the next time the tenant has the same text. In the order of the hashes, so that two documents that
-- share texts do not deadlock. Locks: the tenant's row, for key share; the rows it inserts. Raises PS005, PS012, PS017.
create or replace function ingest.keep_embeddings(
  _model text, _sha256s bytea[], _embeddings bytea[], _token_counts integer[]
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
begin
  if cardinality(_sha256s) <> cardinality(_embeddings) or cardinality(_sha256s) <> cardinality(_token_counts) then
    raise exception using errcode = 'PS005', detail = 'embeddings',
      message = 'the numbers of hashes, embeddings and token counts differ',
      hint = 'Give one of each per text.';
  end if;
  insert into ingest.embedding_cache (tenant_id, model, text_sha256, embedding, token_count, used_at)
  select v_tenant_id, _model, g.text_sha256, g.embedding, g.token_count, internal.clock()
  from unnest(_sha256s, _embeddings, _token_counts) as g (text_sha256, embedding, token_count)
  order by g.text_sha256
  on conflict do nothing;
end;
$$;
