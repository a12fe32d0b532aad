  -- Stop its lanes first and wait for running tasks to end: nothing may write after the anonymization.
  v_open := queues.stop_tenant(v_task.tenant_id, 'account-deletion');
  if v_open > 0 then
    return internal.progress('waiting_for_leases', jsonb_build_object(
      'open', v_open,
      'next_check_at', internal.next_check(v_process, v_task_id, internal.clock() + interval '1 second')));
  end if;
