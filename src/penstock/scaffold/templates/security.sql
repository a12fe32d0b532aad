-- The process {{process}}: what workers may call of it by name, and who may start it.
select internal.register_process('{{process}}', '{{channel}}', '{
  "supervisor": "{{schema}}.{{name}}_supervisor",
  "{{first_part}}": "{{first_function}}",
  "success_handler": "{{schema}}.record_{{name}}_success",
  "error_handler": "{{schema}}.record_{{name}}_failure"
}');
grant usage on schema {{schema}} to penstock_api, worker_service_user, service_role, penstock_keeper;
grant execute on function {{schema}}.kickoff_{{name}} to penstock_api, worker_service_user, service_role;
