-- A project as callers see it, with the number of documents in each status, and how many could not be embedded again when
-- the embedder was switched: those are found by their words only. Its gate, if it has one, says what waits there.
create or replace function accounts.project_row(_project accounts.project)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_project) - 'tenant_id' - 'deleted_at' || jsonb_build_object('documents', (
    select coalesce(jsonb_object_agg(c.status, c.count), '{}')
    from (
      select d.status, count(*) as count from ingest.document d
      where d.project_id = _project.project_id and d.deleted_at is null group by d.status) c),
    'left_behind', (
      select count(*) from ingest.document d
      where d.project_id = _project.project_id and d.deleted_at is null and d.staged_pipeline like 'failed %'),
    'gate', ingest.gate_row(_project.project_id));
$$;
