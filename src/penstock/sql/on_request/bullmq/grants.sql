-- Lets workers and operators move jobs out of BullMQ 6's Postgres backend; `penstock inlet add bullmq` runs it, not a migration,
-- because BullMQ may be absent. The setting penstock.bullmq_schema names its schema. Raises PS013 if it is not one of BullMQ.
do $grants$
declare
  v_schema text := current_setting('penstock.bullmq_schema');
begin
  if to_regclass(format('%I.job_dependency', v_schema)) is null
    or to_regprocedure(format('%I.move_to_active(text,text,bigint,bigint,text,integer,bigint)', v_schema)) is null
  then
    raise exception using errcode = 'PS013', detail = 'schema',
      message = format('this database has no schema %L of BullMQ 6', v_schema),
      hint = 'Name the schema of its Postgres backend with --schema, and let BullMQ migrate it first.';
  end if;
  execute format('grant usage on schema %I to worker_service_user, service_role', v_schema);
  execute format(
    'grant select, insert, update, delete on all tables in schema %I to worker_service_user, service_role', v_schema);
  execute format('grant usage on all sequences in schema %I to worker_service_user, service_role', v_schema);
  execute format('grant execute on all functions in schema %I to worker_service_user, service_role', v_schema);
end
$grants$;
