-- Raises PS011 for a re-index of many documents one by one that searches find and whose project has a gate: nobody would ask its
-- questions. One document by its id is a person's own decision; those that failed or were skipped are not found yet.
-- Runs with its caller's rights. Raises PS005, PS011, PS012, PS013.
create or replace function ingest.refuse_gated(_action text, _filter jsonb)
returns void
language plpgsql
stable
as $$
declare
  v_project text;
begin
  if _action is distinct from 'documents.reindex' or jsonb_array_length(_filter -> 'ids') = 1
    or not exists (select from ingest.gate g where g.tenant_id = internal.require_tenant())
  then
    return;
  end if;
  execute format(
    'select p.slug from ingest.gate g
     join accounts.project p on p.project_id = g.project_id
     where g.tenant_id = %L and exists (
       select from ingest.document d where %s %s and d.project_id = g.project_id and d.status = ''indexed'')
     order by p.slug limit 1',
    internal.require_tenant(), ingest.document_where(_filter), ingest.document_text_condition(_filter, 'd'))
  into v_project;
  if v_project is not null then
    raise exception using errcode = 'PS011', detail = 'action',
      message = format('the project %L has a gate, which an operation on its indexed documents would bypass', v_project),
      hint = format('Re-index it as a whole: penstock reindex --project %s. Or leave it out of the filter.', v_project);
  end if;
end;
$$;
