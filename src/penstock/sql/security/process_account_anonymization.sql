-- The process accounts.account_anonymization: what workers may call of it by name. It is started by the deletion only.
select internal.register_process('accounts.account_anonymization', 'db_function', '{
  "supervisor": "accounts.account_anonymization_supervisor",
  "performer": "accounts.anonymize_account",
  "success_handler": "accounts.record_account_anonymization_success",
  "error_handler": "accounts.record_account_anonymization_failure"
}', 'account-deletion');
grant select on accounts.account_anonymization_task_succeeded, accounts.account_anonymization_task_failed to service_role;
grant execute on function
  accounts.is_account_anonymization_stuck, accounts.has_account_anonymization_succeeded_attempt, accounts.count_account_anonymization_attempts,
  accounts.count_account_anonymization_failed_attempts
  to service_role;
