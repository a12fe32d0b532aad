-- Who may call which function of accounts. All of them work for the transaction's tenant.
grant usage on schema accounts to penstock_api, worker_service_user, service_role, penstock_reader, penstock_all_tenants;
grant execute on all functions in schema accounts to penstock_all_tenants;

grant execute on function
  accounts.budget_left,
  accounts.list_keys,
  accounts.list_projects,
  accounts.note_usage,
  accounts.show_holdings,
  accounts.show_project,
  accounts.show_tenant,
  accounts.usage_of_month
to penstock_api, worker_service_user, service_role;

grant execute on function
  accounts.begin_audit,
  accounts.begin_reply,
  accounts.create_key,
  accounts.create_project,
  accounts.delete_project,
  accounts.delete_view,
  accounts.end_audit,
  accounts.end_session,
  accounts.keep_reply,
  accounts.list_audit,
  accounts.list_sessions,
  accounts.list_views,
  accounts.put_view,
  accounts.revoke_key,
  accounts.set_project,
  accounts.set_tenant,
  accounts.set_view,
  accounts.start_session
to penstock_api, service_role;
