-- When each completed task was completed.
drop view if exists queues.task_completed;
create view queues.task_completed as
select a.task_id, a.closed_at as completed_at
from queues.attempt a
where a.outcome = 'completed';
