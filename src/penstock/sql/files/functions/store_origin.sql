-- Identifies this database as one text: cluster, timeline, database and table. A restored dump, a promoted standby and a
-- recovery to a point in time all give another text, so intents that were copied with the data are never acted on.
create or replace function files.store_origin()
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cluster text;
begin
  begin
    v_cluster := concat_ws('.', (pg_control_system()).system_identifier, (pg_control_checkpoint()).timeline_id);
  exception
    when insufficient_privilege then
      -- Some hosted servers hide the control file; the ids below change with a restored dump anyway.
      v_cluster := 'hidden';
  end;
  return concat_ws('/', v_cluster,
    (select d.oid from pg_database d where d.datname = current_database()),
    'files.blob_intent'::regclass::oid);
end;
$$;
