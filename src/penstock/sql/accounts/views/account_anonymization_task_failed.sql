-- The failures of each task, one a failed attempt. Row security shows the transaction's tenant only.
create or replace view accounts.account_anonymization_task_failed as
select
  a.account_anonymization_task_id,
  a.account_anonymization_attempt_id,
  f.tenant_id,
  f.error_message,
  f.retriable,
  f.created_at
from accounts.account_anonymization_attempt_failed f
join accounts.account_anonymization_attempt a using (account_anonymization_attempt_id);
