-- The tasks that succeeded, with the attempt that did. Row security shows the transaction's tenant only.
create or replace view files.file_deletion_task_succeeded as
select
  a.file_deletion_task_id,
  a.file_deletion_attempt_id,
  s.tenant_id,
  s.created_at
from files.file_deletion_attempt_succeeded s
join files.file_deletion_attempt a using (file_deletion_attempt_id);
