-- Who may call the machinery of processes. The owners' functions use it; workers run what is registered.
-- The doors among it are for nobody else, not for the other owners either.
revoke all on function
  internal.run_function, internal.run_for_tenant, internal.run_and_complete, internal.business_call,
  internal.erase_tenant, internal.register_process
  from penstock_queue, penstock_keeper;
grant execute on function
  internal.run_function, internal.run_for_tenant, internal.run_and_complete, internal.business_call, internal.succeeded
  to worker_service_user;
-- Operators read the views of facts; the policies behind them ask whose transaction it is.
grant execute on function internal.tenant_id to service_role;
grant execute on function queues.withdraw to penstock_owner, penstock_keeper;
grant execute on function keeping.sweep_processes, keeping.start_file_deletions to worker_service_user;
grant select on internal.process, internal.business_function to penstock_keeper;
-- Operators look at processes of every tenant and start one again.
grant execute on function keeping.list_roots, keeping.show_root, keeping.ailing_roots to service_role, penstock_reader;
grant execute on function keeping.restart_root to service_role;
grant execute on function queues.note_audit to penstock_keeper;
