-- One dead letter with everything that is kept of it. Raises PS007.
create or replace function queues.show_dead(_task_id bigint)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead jsonb;
begin
  select to_jsonb(d) - 'queue_id' - 'unique_key' - 'limit_key' - 'on_duplicate'
    || jsonb_build_object('queue', q.queue_name) into v_dead
  from queues.dead_letter d join queues.queue q using (queue_id) where d.task_id = _task_id
    and internal.may_see(d.tenant_id);
  if not found then
    raise exception using errcode = 'PS007', detail = 'task_id',
      message = format('there is no dead letter %s', _task_id),
      hint = 'List the dead letters: penstock dead list';
  end if;
  return v_dead;
end;
$$;
