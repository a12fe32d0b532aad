-- The tasks that succeeded, with the attempt that did. Row security shows the transaction's tenant only.
create or replace view accounts.account_anonymization_task_succeeded as
select
  a.account_anonymization_task_id,
  a.account_anonymization_attempt_id,
  s.tenant_id,
  s.created_at
from accounts.account_anonymization_attempt_succeeded s
join accounts.account_anonymization_attempt a using (account_anonymization_attempt_id);
