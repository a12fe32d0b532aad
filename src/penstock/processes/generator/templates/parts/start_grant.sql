grant execute on function {{schema}}.kickoff_{{name}} to penstock_api, worker_service_user, service_role;
