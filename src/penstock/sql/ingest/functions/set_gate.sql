-- Gives a project a gate, or changes the one it has; what is null stays as it is. _questions: an array of {question, documents},
-- which replaces all questions. What waits is judged again. Returns the gate. Locks: the gate's row. Raises PS005, PS012, PS013.
create or replace function ingest.set_gate(
  _project text,
  _questions jsonb default null,
  _mode text default null,
  _allowed_loss double precision default null,
  _set_by text default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 10000;
  v_project accounts.project := accounts.find_project(_project);
begin
  if _mode not in ('block', 'warn') then
    raise exception using errcode = 'PS005', detail = 'mode',
      message = format('%L is not a mode of a gate', left(_mode, 80)), hint = 'Use block or warn.';
  elsif not coalesce(_allowed_loss between 0 and 1, true) then
    raise exception using errcode = 'PS005', detail = 'allowed_loss',
      message = format('an allowed loss of %s is out of range', _allowed_loss), hint = 'Use 0 to 1, such as 0.01.';
  elsif _questions is null and not exists (select from ingest.gate g where g.project_id = v_project.project_id) then
    raise exception using errcode = 'PS005', detail = 'questions',
      message = format('the project %L has no gate yet, so it needs questions', v_project.slug),
      hint = 'Add --questions FILE.';
  elsif jsonb_typeof(_questions) <> 'array' or jsonb_array_length(_questions) not between 1 and v_most then
    raise exception using errcode = 'PS005', detail = 'questions',
      message = 'a gate needs questions', hint = format('Give 1 to %s.', v_most);
  end if;
  insert into ingest.gate as g (project_id, tenant_id, mode, allowed_loss, set_by, set_at)
  values (
    v_project.project_id, v_project.tenant_id, coalesce(_mode, 'block')::ingest.gate_mode, coalesce(_allowed_loss, 0),
    left(coalesce(_set_by, 'unknown'), 200), internal.clock())
  on conflict (project_id) do update set
    mode = coalesce(_mode::ingest.gate_mode, g.mode), allowed_loss = coalesce(_allowed_loss, g.allowed_loss),
    version = g.version + 1, set_by = excluded.set_by, set_at = excluded.set_at;
  if _questions is not null then
    delete from ingest.gate_question q where q.project_id = v_project.project_id;
    insert into ingest.gate_question (project_id, place, tenant_id, question, documents)
    select v_project.project_id, q.place, v_project.tenant_id, q.one ->> 'question',
      array(select jsonb_array_elements_text(q.one -> 'documents'))
    from jsonb_array_elements(_questions) with ordinality as q (one, place);
  end if;
  return ingest.gate_row(v_project.project_id);
end;
$$;
