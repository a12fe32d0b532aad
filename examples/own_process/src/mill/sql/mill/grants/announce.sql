-- The process mill.announce: the functions that workers may call by name, and who may start it.
select internal.register_channel('chat');
select internal.register_process('mill.announce', 'chat', '{
  "supervisor": "mill.announce_supervisor",
  "before_handler": "mill.get_announce_payload",
  "success_handler": "mill.record_announce_success",
  "error_handler": "mill.record_announce_failure"
}');
grant usage on schema mill to penstock_api, worker_service_user, service_role, penstock_all_tenants;
grant execute on function mill.kickoff_announce to penstock_api, worker_service_user, service_role;
grant execute on function
  mill.is_announce_stuck, mill.has_announce_succeeded_attempt, mill.count_announce_attempts,
  mill.count_announce_failed_attempts
  to service_role;
