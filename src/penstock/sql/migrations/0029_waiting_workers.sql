-- How a worker waits for a queue, so that a producer can wake one that has room instead of all of them.
-- mailbox: the number of the channel it listens on, penstock_worker_N, which its listener also holds as an advisory lock while it is
-- connected; null for workers that listen on penstock_ready only. load: -1 polls without being told, until polls_until;
-- 0 runs nothing, 1 to 9 runs something, 10 has no slot left. Workers are woken in the order of the index.
alter table queues.idle
  add column mailbox integer,
  add column load smallint constraint load_is_known check (load between -1 and 10),
  add column polls_until timestamptz;
create index idle_order_idx on queues.idle (queue_id, load, worker_id);

-- The id under which the same process was registered before it was declared lost: it was frozen or cut off, and no task killed it.
alter table queues.worker add column replaces integer;
