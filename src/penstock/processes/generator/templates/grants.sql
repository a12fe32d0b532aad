-- The process {{process}}: the functions that workers may call by name, and who may start it.
{{new_channel}}select internal.register_process('{{process}}', '{{channel}}', '{
  "supervisor": "{{schema}}.{{name}}_supervisor",
  "{{first_part}}": "{{first_function}}",
  "success_handler": "{{success_handler}}",
  "error_handler": "{{error_handler}}"
}'{{process_queue}});
grant usage on schema {{schema}} to penstock_api, worker_service_user, service_role, penstock_all_tenants;
{{grants}}grant execute on function
  {{schema}}.is_{{name}}_stuck, {{schema}}.has_{{name}}_succeeded_attempt, {{schema}}.count_{{name}}_attempts,
  {{schema}}.count_{{name}}_failed_attempts
  to service_role;
