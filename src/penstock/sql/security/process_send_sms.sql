-- The process comms.send_sms: what workers may call of it by name, and who may start it.
select internal.register_process('comms.send_sms', 'sms', '{
  "supervisor": "comms.send_sms_supervisor",
  "before_handler": "comms.get_sms_payload",
  "success_handler": "comms.record_sms_success",
  "error_handler": "comms.record_sms_failure"
}');
grant usage on schema comms to penstock_api, worker_service_user, service_role, penstock_keeper;
grant execute on function comms.kickoff_send_sms, comms.create_sms_message, comms.show_send_sms
  to penstock_api, worker_service_user, service_role;
grant execute on function
  comms.is_send_sms_stuck, comms.has_send_sms_succeeded_attempt, comms.count_send_sms_attempts,
  comms.count_send_sms_failed_attempts
  to service_role;
