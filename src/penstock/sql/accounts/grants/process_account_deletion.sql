-- The process accounts.account_deletion: the functions that workers may call by name, and who may read it.
select internal.register_process('accounts.account_deletion', 'db_function', '{
  "supervisor": "accounts.account_deletion_supervisor"
}', 'account-deletion');
grant execute on function accounts.show_deletion to penstock_api, service_role;
grant select on accounts.account_deletion_task_succeeded, accounts.account_deletion_task_failed to service_role;
grant execute on function
  accounts.is_account_deletion_stuck, accounts.has_account_deletion_succeeded_attempt, accounts.count_account_deletion_attempts,
  accounts.count_account_deletion_failed_attempts
  to service_role;
