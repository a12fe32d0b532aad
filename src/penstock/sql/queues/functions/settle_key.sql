-- Applies the closes that freed a key: the closed tasks no longer hold it. The caller holds the key's lock, so a task that
-- arrives after a close was committed never finds the closed holder.
create or replace function queues.settle_key(_key bytea)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from queues.freed f where f.key = _key returning f.task_id
  )
  delete from queues.held h using gone g where h.key = _key and h.task_id = g.task_id;
$$;
