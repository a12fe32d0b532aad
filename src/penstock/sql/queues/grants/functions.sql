-- Who may call which function of the queue. Every role calls functions; nobody has a grant on a table.
--   penstock_api          producers: enqueue and read
--   worker_service_user   workers: the same, and claim and close
--   service_role          operators: pause, limits, cancel, replay, purge, schedules
--   penstock_reader       read-only
-- The other owners' functions call some of the queue's.
grant usage on schema queues
to penstock_api, worker_service_user, service_role, penstock_reader, penstock_owner, penstock_all_tenants;

grant execute on function
  queues.explain,
  queues.task_state
to penstock_api, worker_service_user, service_role, penstock_reader, penstock_owner, penstock_all_tenants;

grant execute on function
  queues.cancel_task,
  queues.enqueue
to penstock_api, worker_service_user, service_role, penstock_owner, penstock_all_tenants;

grant execute on function
  queues.audit_invariants,
  queues.count_dead,
  queues.count_tasks,
  queues.dead_by_fingerprint,
  queues.dead_groups,
  queues.dead_letters,
  queues.dead_members,
  queues.dead_tuples,
  queues.depths,
  queues.figures,
  queues.find_parts,
  queues.history,
  queues.horizon_pins,
  queues.inlet_refusals,
  queues.inlets,
  queues.limits,
  queues.list_tasks,
  queues.page_tasks,
  queues.partitions,
  queues.schedules,
  queues.show_dead,
  queues.show_task,
  queues.stats,
  queues.task_types,
  queues.workers
to penstock_api, worker_service_user, service_role, penstock_reader;

grant execute on function
  queues.repeat_task,
  queues.reveal_task,
  queues.run_now
to penstock_api, service_role;

grant execute on function
  queues.time_marks
to penstock_api;

grant execute on function
  queues.enqueue_many
to penstock_api, worker_service_user, service_role, penstock_owner;

grant execute on function
  queues.attempts_of,
  queues.end_dead,
  queues.estimate_dead,
  queues.estimate_tasks,
  queues.find_dead_targets,
  queues.find_parts,
  queues.find_targets,
  queues.how_it_ended,
  queues.is_open,
  queues.is_served,
  queues.key_holder,
  queues.last_dead,
  queues.withdraw
to penstock_owner, penstock_all_tenants;

-- A bridge needs nothing but a login of service_role; workers run the inlets that are read from Python.
grant execute on function
  queues.bullmq_waiting,
  queues.pgmq_waiting,
  queues.take_from_bullmq,
  queues.take_from_pgmq,
  queues.take_in
to worker_service_user, service_role, penstock_owner;

grant execute on function
  queues.drop_schedule,
  queues.free_inlets,
  queues.hold_inlets,
  queues.inlet_gauges,
  queues.maintain,
  queues.put_queue,
  queues.put_schedule,
  queues.put_task_type,
  queues.rescue,
  queues.sweep_inlets,
  queues.take_samples
to worker_service_user, service_role;

grant execute on function
  queues.note_audit
to penstock_owner, penstock_all_tenants;

grant execute on function
  queues.put_inlet,
  queues.put_limits,
  queues.remove_inlet,
  queues.replay_pgmq,
  queues.replay_pgmq_queue
to service_role;

-- Operators call them one by one, and operations of theirs on many.
grant execute on function
  queues.ask_to_stop,
  queues.pause,
  queues.resume,
  queues.run_schedule,
  queues.set_inlet,
  queues.set_schedule
to service_role, penstock_all_tenants;

-- The owners call them for operations.
grant execute on function
  queues.purge_dead,
  queues.replay,
  queues.run_now
to service_role, penstock_owner, penstock_all_tenants;

grant execute on function
  queues.admit,
  queues.announce,
  queues.beat,
  queues.claim,
  queues.close_cancelled,
  queues.complete,
  queues.complete_here,
  queues.complete_task,
  queues.dequeue_next_available_task,
  queues.due_schedules,
  queues.extend,
  queues.fail,
  queues.fail_task,
  queues.fire_schedule,
  queues.go_idle,
  queues.holds,
  queues.next_due,
  queues.open_leases,
  queues.pass_on,
  queues.probe,
  queues.register_worker,
  queues.release,
  queues.snooze,
  queues.spend,
  queues.stop_worker,
  queues.wait_for_work
to worker_service_user;

grant execute on function
  queues.erase_history,
  queues.stop_tenant
to penstock_owner;

grant select on queues.task_lease, queues.task_completed to service_role, penstock_reader;
