-- The tasks that succeeded, with the attempt that did. Row security shows the transaction's tenant only.
create or replace view accounts.account_deletion_task_succeeded as
select
  a.account_deletion_task_id,
  a.account_deletion_attempt_id,
  s.tenant_id,
  s.created_at
from accounts.account_deletion_attempt_succeeded s
join accounts.account_deletion_attempt a using (account_deletion_attempt_id);
