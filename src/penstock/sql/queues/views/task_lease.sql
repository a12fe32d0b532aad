-- Every claim of a task: open leases, and closed ones with the time they ended.
drop view if exists queues.task_lease;
create view queues.task_lease as
select
  l.lease_id as task_lease_id,
  l.task_id,
  l.claimed_at as leased_at,
  coalesce(l.deadline_at, w.beat_at + w.lease_for) as expires_at
from queues.lease l
join queues.worker w using (worker_id)
union all
select a.attempt_id, a.task_id, a.claimed_at, a.closed_at
from queues.attempt a
where a.claimed_at is not null;
