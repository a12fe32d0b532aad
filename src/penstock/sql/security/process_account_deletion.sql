-- The process accounts.account_deletion: what workers may call of it by name, and who may request it.
select internal.register_process('accounts.account_deletion', 'db_function', '{
  "supervisor": "accounts.account_deletion_supervisor"
}', 'account-deletion');
grant usage on schema api to penstock_api, service_role;
grant execute on function api.request_account_deletion, accounts.show_deletion to penstock_api, service_role;
grant execute on function keeping.find_deletion to penstock_api, service_role;
grant execute on function keeping.deletion_of to service_role;
grant execute on function queues.stop_tenant, queues.erase_history to penstock_owner;
grant select on accounts.account_deletion_task_succeeded, accounts.account_deletion_task_failed to service_role;
grant execute on function
  accounts.is_account_deletion_stuck, accounts.has_account_deletion_succeeded_attempt, accounts.count_account_deletion_attempts,
  accounts.count_account_deletion_failed_attempts
  to service_role;
