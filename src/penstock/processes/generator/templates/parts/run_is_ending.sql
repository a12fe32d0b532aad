  -- A run that was asked to stop may still write vectors; none may be written after their removal.
  if exists (
    select from files.file f join ingest.document d using (document_id)
    where f.file_id = v_task.file_id and queues.task_state(d.task_id) = 'running')
  then
    return internal.progress('run_is_ending', jsonb_build_object(
      'next_check_at', internal.next_check(v_process, v_task_id, internal.clock() + interval '1 second')));
  end if;
