-- The functions by which a team's own consumer uses pgmq without rights on it: public.ingestion_enqueue, ingestion_read,
-- ingestion_delete and ingestion_archive, security definer, for service_role only. `penstock inlet add pgmq --wrappers` runs
-- it. They only call functions of the schema queues, so an upgrade of Penstock changes what they do. Raises PS014 if
-- functions of these names exist that are not ours.
do $theirs$
declare
  v_theirs text;
begin
  select p.oid::regprocedure::text into v_theirs
  from pg_proc p
  join pg_roles r on r.oid = p.proowner
  where p.pronamespace = 'public'::regnamespace and r.rolname <> 'penstock_queue'
    and p.proname in ('ingestion_enqueue', 'ingestion_read', 'ingestion_delete', 'ingestion_archive')
  order by 1 limit 1;
  if v_theirs is not null then
    raise exception using errcode = 'PS014', detail = 'wrappers',
      message = format('the function public.%s exists already and is not of Penstock', v_theirs),
      hint = format('Remove it: drop function public.%s; or leave --wrappers out.', v_theirs);
  end if;
  grant create on schema public to penstock_queue;
end
$theirs$;

create or replace function public.ingestion_enqueue(queue_name text, message jsonb, delay integer default 0)
returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.pgmq_enqueue(queue_name, message, delay);
$$;

create or replace function public.ingestion_read(queue_name text, vt integer default 300, qty integer default 1)
returns setof queues.pgmq_message
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select * from queues.pgmq_read(queue_name, vt, qty);
$$;

create or replace function public.ingestion_delete(queue_name text, msg_id bigint, read_ct integer default null)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.pgmq_close(queue_name, msg_id, read_ct, false);
$$;

create or replace function public.ingestion_archive(queue_name text, msg_id bigint, read_ct integer default null)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.pgmq_close(queue_name, msg_id, read_ct, true);
$$;

do $rights$
declare
  v_function regprocedure;
  v_role text;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname in ('ingestion_enqueue', 'ingestion_read', 'ingestion_delete', 'ingestion_archive')
  loop
    execute format('alter function %s owner to penstock_queue', v_function);
    execute format('revoke all on function %s from public', v_function);
    -- Supabase grants new functions of public to these two by default.
    foreach v_role in array array['anon', 'authenticated']
    loop
      if exists (select from pg_roles r where r.rolname = v_role) then
        execute format('revoke all on function %s from %I', v_function, v_role);
      end if;
    end loop;
    execute format('grant execute on function %s to service_role', v_function);
  end loop;
  revoke create on schema public from penstock_queue;
end
$rights$;
