-- Tells idle workers of a queue that there is something to claim. NOTIFY takes one cluster-wide lock at commit (in every
-- enqueue it cost 16 writers two thirds of their rate), so it is sent only while some worker is registered idle. Equal
-- payloads of one transaction are one message. With _ready there is a task to claim and nothing else changed; otherwise the
-- worker also asks again when the next row is due.
create or replace function queues.wake(_queue_id smallint, _ready boolean default false)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from queues.idle i where i.queue_id = _queue_id) then
    perform pg_notify('penstock_ready', _queue_id || case when _ready then '' else ':due' end);
  end if;
end;
$$;
