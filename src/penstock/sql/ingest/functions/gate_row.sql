-- A project's gate as callers see it, with its newest evaluation, and what waits at it; null if the project has none.
-- Runs with its caller's rights.
create or replace function ingest.gate_row(_project_id uuid)
returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'mode', g.mode,
    'allowed_loss', g.allowed_loss,
    'questions', (select count(*) from ingest.gate_question q where q.project_id = g.project_id),
    'set_by', g.set_by,
    'set_at', g.set_at,
    'waiting', w.run_id,
    'says', ingest.gate_says(w.run_id),
    'evaluation', case when l.evaluation_id is not null then ingest.evaluation_row(l) end)
  from ingest.gate g
  left join lateral (
    select e.* from ingest.gate_evaluation e where e.project_id = g.project_id order by e.evaluation_id desc limit 1
  ) l on true
  left join lateral (
    select r.run_id from ingest.bulk_run r
    where r.project_id = g.project_id and r.finished_at is null and r.run_id = l.run_id
      and l.gate_version = g.version and (l.state = 'asking' or l.state = 'failed' and g.mode = 'block')
  ) w on true
  where g.project_id = _project_id;
$$;
