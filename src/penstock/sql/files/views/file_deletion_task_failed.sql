-- The failures of each task, one a failed attempt. Row security shows the transaction's tenant only.
create or replace view files.file_deletion_task_failed as
select
  a.file_deletion_task_id,
  a.file_deletion_attempt_id,
  f.tenant_id,
  f.error_message,
  f.retriable,
  f.created_at
from files.file_deletion_attempt_failed f
join files.file_deletion_attempt a using (file_deletion_attempt_id);
