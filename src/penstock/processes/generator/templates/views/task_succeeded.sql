-- The tasks that succeeded, each with its successful attempt. Row security limits it to the transaction's tenant.
create or replace view {{schema}}.{{name}}_task_succeeded as
select
  a.{{name}}_task_id,
  a.{{name}}_attempt_id,
  s.tenant_id,
  s.created_at
from {{schema}}.{{name}}_attempt_succeeded s
join {{schema}}.{{name}}_attempt a using ({{name}}_attempt_id);
