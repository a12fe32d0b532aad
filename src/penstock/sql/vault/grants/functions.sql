-- Who may call which function of the vault. All of them work for the transaction's tenant.
grant usage on schema vault to penstock_api, worker_service_user, service_role, penstock_reader, penstock_all_tenants;
grant execute on all functions in schema vault to penstock_all_tenants;

grant execute on function
  vault.drop_secret,
  vault.get_secret,
  vault.newest_secret,
  vault.orphan_secret,
  vault.plan_parameter,
  vault.put_secret
to penstock_api, worker_service_user, service_role;
