-- Who may call which function of files. All of them work for the transaction's tenant.
grant usage on schema files to penstock_api, worker_service_user, service_role, penstock_reader, penstock_all_tenants;
grant execute on all functions in schema files to penstock_all_tenants;

grant execute on function
  files.make_intents
to penstock_api, worker_service_user, service_role;
