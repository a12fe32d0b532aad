-- The process files.file_deletion: what workers may call of it by name, and who may start it.
select internal.register_process('files.file_deletion', 'file_delete', '{
  "supervisor": "files.file_deletion_supervisor",
  "before_handler": "files.get_file_delete_payload",
  "success_handler": "files.record_file_delete_success",
  "error_handler": "files.record_file_delete_failure"
}');
grant usage on schema files to penstock_api, worker_service_user, service_role, penstock_keeper;
grant execute on function files.kickoff_file_deletion to worker_service_user, service_role, penstock_keeper;
grant select on files.file_metadata, files.file_deletion_task_succeeded, files.file_deletion_task_failed to service_role;
grant execute on function
  files.is_file_deletion_stuck, files.has_file_deletion_succeeded_attempt, files.count_file_deletion_attempts,
  files.count_file_deletion_failed_attempts
  to service_role;
