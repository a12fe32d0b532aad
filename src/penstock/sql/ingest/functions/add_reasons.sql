-- Adds a batch's reasons to those counted so far: {skipped: {reason: count}, failed: {…}}. At most 50 of each; the rest count as others.
create or replace function ingest.add_reasons(_reasons jsonb, _outcomes text[], _texts text[])
returns jsonb
language plpgsql
immutable
as $$
declare
  v_row record;
  v_kind jsonb;
  v_text text;
begin
  for v_row in
    select t.outcome, t.reason, count(*) as count
    from unnest(_outcomes, _texts) as t (outcome, reason)
    where t.outcome <> 'done' group by 1, 2
  loop
    v_kind := coalesce(_reasons -> v_row.outcome, '{}');
    v_text := coalesce(v_row.reason, 'no reason was given');
    if not v_kind ? v_text and (select count(*) from jsonb_object_keys(v_kind)) >= 50 then
      v_text := 'other reasons';
    end if;
    _reasons := _reasons || jsonb_build_object(v_row.outcome,
      v_kind || jsonb_build_object(v_text, coalesce((v_kind ->> v_text)::bigint, 0) + v_row.count));
  end loop;
  return _reasons;
end;
$$;
