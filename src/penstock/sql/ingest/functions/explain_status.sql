-- Says why a document is in its state, from its own row: what failed, what it waits for, which model it is indexed with.
-- An outage of its embedder is shown in every state before its end, also while a run tries the embedder again, and before the
-- document's first run has noticed. An outage that was not confirmed for ten minutes says nothing about now.
create or replace function ingest.explain_status(_document ingest.document)
returns table (reason text, explanation text, remedy text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_embedder text;
begin
  if _document.status = 'failed' then
    -- The message of a rejected document already begins with its code.
    return query select 'failed', format('It failed at %s: %s', date_trunc('second', _document.updated_at), case
        when starts_with(_document.error_message, _document.reason_code || ':') then _document.error_message
        else format('%s: %s', coalesce(_document.reason_code, 'unknown'),
          coalesce(_document.error_message, 'no message was kept')) end),
      format('Fix the cause, then: penstock document retry %s', _document.document_id);
    return;
  end if;
  select case when _document.status = 'indexed' and p.next_embedder is not null then p.next_embedder else p.embedder end
  into v_embedder
  from accounts.project p where p.project_id = _document.project_id;
  if _document.status = 'pending' and _document.reason_code = 'over_budget' then
    return query select 'over_budget', format('The tenant''s budget of tokens is used up: %s.', _document.error_message),
      'Raise the tenant''s monthly_token_budget, or wait for the next month.';
  elsif _document.status = 'pending' and _document.reason_code = 'index_not_ready' then
    return query select 'index_not_ready', case when to_regclass('ingest.chunk_vector') is null
        then format('The database %I has no pgvector, so there is nowhere to put its vectors.', current_database())
        else 'pgvector was missing at its last run and is there now.' end,
      case when to_regclass('ingest.chunk_vector') is null
        then ingest.vectors_remedy() || '. It continues automatically a minute later.'
        else 'Nothing to do; it continues automatically within a minute.' end;
  elsif _document.status in ('pending', 'processing', 'embedding') then
    return query
    select 'embedder_unavailable', format('The embedder %s has been unavailable since %s: %s The next call is at %s.',
      o.embedder, date_trunc('second', o.since), rtrim(o.reason, '.') || '.', date_trunc('second', o.retry_at)),
      'Nothing to do; it continues automatically when the embedder answers. PENSTOCK_EMBEDDER_FALLBACK names a second model '
        'to index with meanwhile.'
    from internal.embedder_outage o
    where o.embedder = v_embedder and (
      _document.reason_code = 'embedder_unavailable'
      or greatest(o.failed_at, o.retry_at) > internal.clock() - interval '10 minutes');
  end if;
  if _document.fallback_embedder is not null then
    return query select 'fallback', format('It is indexed with the fallback %s because %s was unavailable.',
      _document.fallback_embedder, v_embedder),
      format('Nothing to do; it is embedded again with %s once that is available.', v_embedder);
  end if;
end;
$$;
