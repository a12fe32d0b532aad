-- The process comms.send_email: what workers may call of it by name, and who may start it.
select internal.register_process('comms.send_email', 'email', '{
  "supervisor": "comms.send_email_supervisor",
  "before_handler": "comms.get_email_payload",
  "success_handler": "comms.record_email_success",
  "error_handler": "comms.record_email_failure"
}');
grant usage on schema comms to penstock_api, worker_service_user, service_role, penstock_keeper;
grant execute on function comms.kickoff_send_email, comms.create_email_message, comms.show_send_email
  to penstock_api, worker_service_user, service_role;
grant execute on function
  comms.is_send_email_stuck, comms.has_send_email_succeeded_attempt, comms.count_send_email_attempts,
  comms.count_send_email_failed_attempts
  to service_role;
