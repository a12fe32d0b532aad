-- A project as callers see it, with the number of documents in each status, and how many could not be embedded again when
-- the embedder was switched: those are found by their words only. Its gate, if it has one, says what waits there.
create or replace function accounts.project_row(_project accounts.project)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_project) - 'tenant_id' - 'deleted_at' || (
    select jsonb_build_object(
      'documents', coalesce(jsonb_object_agg(c.status, c.count), '{}'), 'left_behind', coalesce(sum(c.left_behind), 0))
    from (
      select d.status, count(*) as count, count(*) filter (where d.staged_pipeline like 'failed %') as left_behind
      from ingest.document d
      where d.project_id = _project.project_id and d.deleted_at is null group by d.status) c
  ) || jsonb_build_object('gate', ingest.gate_row(_project.project_id));
$$;
