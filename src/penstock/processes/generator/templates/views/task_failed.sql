-- The failures of each task, one row per failed attempt. Row security limits it to the transaction's tenant.
create or replace view {{schema}}.{{name}}_task_failed as
select
  a.{{name}}_task_id,
  a.{{name}}_attempt_id,
  f.tenant_id,
  f.error_message,
  f.retriable,
  f.created_at
from {{schema}}.{{name}}_attempt_failed f
join {{schema}}.{{name}}_attempt a using ({{name}}_attempt_id);
