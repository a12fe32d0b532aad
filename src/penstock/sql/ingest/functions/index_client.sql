-- Trigger on ingest.client_intelligence: writes what search reads of the clients that a statement wrote. Name, industry, summary
-- and facts are read in the language of the client's project. What did not change is not written again; vectors that
-- put_client_embeddings() was given are left to it. No nested loop, which would compare each row with all others.
-- Runs with the rights of the role that writes the clients.
-- Locks: the clients' rows in the index, by id.
create or replace function ingest.index_client()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
set enable_nestloop = off
as $$
declare
  v_texts uuid[];
  v_vectors uuid[];
begin
  if tg_op = 'INSERT' then
    select array_agg(w.client_id), array_agg(w.client_id) filter (where w.embedding is not null and w.embedding_model is not null)
    into v_texts, v_vectors
    from written w;
  else
    select
      array_agg(w.client_id) filter (where
        (b.client_name, b.industry, b.summary, b.key_facts, b.project_id)
        is distinct from (w.client_name, w.industry, w.summary, w.key_facts, w.project_id)),
      array_agg(w.client_id) filter (where
        (b.embedding, b.embedding_model) is distinct from (w.embedding, w.embedding_model))
    into v_texts, v_vectors
    from written w
    join before b on b.client_id = w.client_id;
  end if;

  if v_texts is not null then
    with read as materialized (
      select w.client_id, w.tenant_id, p.text_config,
        ingest.lexemes(p.text_config, concat_ws(' ', w.client_name, w.industry, w.summary))
        || jsonb_to_tsvector(
          p.text_config::regconfig, regexp_replace(w.key_facts::text, ingest.parser_signs(), ' ', 'g')::jsonb, '["string", "numeric"]') as lexemes
      from written w
      join unnest(v_texts) t (client_id) on t.client_id = w.client_id
      cross join lateral (select o.text_config from accounts.project o where o.project_id = w.project_id offset 0) p
    ), configured as (
      insert into ingest.text_config_used (tenant_id, text_config)
      select distinct r.tenant_id, r.text_config
      from read r
      where not exists (
        select from ingest.text_config_used u where u.tenant_id = r.tenant_id and u.text_config = r.text_config)
      on conflict do nothing
    )
    insert into ingest.client_text (client_id, tenant_id, lexemes, text_length)
    select r.client_id, r.tenant_id, r.lexemes, (
      select coalesce(sum(greatest(1, cardinality(l.positions))), 0) from unnest(r.lexemes) l)
    from read r
    order by r.client_id
    on conflict (client_id) do update set lexemes = excluded.lexemes, text_length = excluded.text_length;
  end if;

  if v_vectors is null or to_regclass('ingest.client_vector') is null
    or current_setting('penstock.client_vectors', true) = 'given'
  then
    return null;
  end if;
  delete from ingest.client_vector v
  where v.client_id = any (array(
    select w.client_id from written w
    join unnest(v_vectors) g (client_id) on g.client_id = w.client_id
    where w.embedding is null or w.embedding_model is null));
  execute format(
    'insert into ingest.client_vector (client_id, tenant_id, model, embedding)
     select w.client_id, w.tenant_id, w.embedding_model, ingest.vector_text(w.embedding)::%s.halfvec
     from written w
     join unnest($1) g (client_id) on g.client_id = w.client_id
     where w.embedding is not null and w.embedding_model is not null
     order by w.client_id
     on conflict (client_id) do update set model = excluded.model, embedding = excluded.embedding',
    ingest.vector_schema())
  using v_vectors;
  return null;
end;
$$;
