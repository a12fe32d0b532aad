-- The process {{process}}: what workers may call of it by name, and who may start it.
select internal.register_process('{{process}}', '{{channel}}', '{
  "supervisor": "{{schema}}.{{name}}_supervisor",
  "{{first_part}}": "{{first_function}}",
  "success_handler": "{{schema}}.record_{{name}}_success",
  "error_handler": "{{schema}}.record_{{name}}_failure"
}');
grant usage on schema {{schema}} to penstock_api, worker_service_user, service_role, penstock_keeper;
grant execute on function {{schema}}.kickoff_{{name}} to penstock_api, worker_service_user, service_role;
grant execute on function
  {{schema}}.is_{{name}}_stuck, {{schema}}.has_{{name}}_succeeded_attempt, {{schema}}.count_{{name}}_attempts,
  {{schema}}.count_{{name}}_failed_attempts
  to service_role;
