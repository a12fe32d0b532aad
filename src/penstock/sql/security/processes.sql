-- Who may call the machinery of processes. The owners' functions use it; workers run what is registered.
grant execute on function internal.run_function, internal.business_call to worker_service_user;
grant execute on function queues.withdraw to penstock_owner, penstock_keeper;
grant execute on function keeping.sweep_processes, keeping.start_file_deletions to worker_service_user;
grant select on internal.process, internal.business_function to penstock_keeper;
