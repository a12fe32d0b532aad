-- Notes what came of a document of a shard: staged, with what was found in it, or failed, with the reason. Nothing is published
-- before the shard closes. Locks: the shard's row shared. Raises PS006, PS012.
create or replace function ingest.end_bulk_document(
  _run_id uuid,
  _shard integer,
  _token integer,
  _document_id uuid,
  _generation integer,
  _facts jsonb default null,
  _code text default null,
  _message text default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.hold_shard(_run_id, _shard, _token);
  update ingest.bulk_document b set
    outcome = case when _code is null then 'staged'::ingest.bulk_outcome else 'failed' end,
    facts = _facts, reason_code = left(_code, 100), message = left(_message, 2000)
  where b.run_id = _run_id and b.shard = _shard and b.document_id = _document_id and b.generation = _generation
    and b.outcome = 'begun';
  if not found then
    raise exception using errcode = 'PS006', detail = 'generation',
      message = format('document %s was not begun as generation %s by this shard', _document_id, _generation),
      hint = 'Discard the work.';
  end if;
end;
$$;
