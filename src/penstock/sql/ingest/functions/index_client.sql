-- Trigger on ingest.client_intelligence: keeps what search reads of a client beside it. Name, industry, summary and
-- facts are read with the language of the client's project. Runs with the rights of whoever writes the client.
-- Locks: the client's rows in the index.
create or replace function ingest.index_client()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_config text;
  v_lexemes tsvector;
begin
  select p.text_config into v_config from accounts.project p where p.project_id = new.project_id;
  v_lexemes := to_tsvector(v_config::regconfig, concat_ws(' ', new.client_name, new.industry, new.summary))
    || jsonb_to_tsvector(v_config::regconfig, new.key_facts, '["string", "numeric"]');
  insert into ingest.client_text (client_id, tenant_id, lexemes, text_length)
  values (new.client_id, new.tenant_id, v_lexemes, (
    select coalesce(sum(greatest(1, cardinality(l.positions))), 0) from unnest(v_lexemes) l))
  on conflict (client_id) do update set lexemes = excluded.lexemes, text_length = excluded.text_length;
  insert into ingest.text_config_used (tenant_id, text_config) values (new.tenant_id, v_config) on conflict do nothing;

  if to_regclass('ingest.client_vector') is null then
    return null;
  end if;
  if new.embedding is null or new.embedding_model is null then
    delete from ingest.client_vector v where v.client_id = new.client_id;
  else
    execute format(
      'insert into ingest.client_vector (client_id, tenant_id, model, embedding)
       values ($1, $2, $3, $4::%s.halfvec)
       on conflict (client_id) do update set model = excluded.model, embedding = excluded.embedding',
      ingest.vector_schema())
    using new.client_id, new.tenant_id, new.embedding_model, ingest.vector_text(new.embedding);
  end if;
  return null;
end;
$$;
