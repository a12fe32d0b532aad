-- horizon_pins() runs as the queue's owner, who sees other users' sessions only as a member of pg_read_all_stats. Where
-- the login that migrates may not grant that, doctor says so.
do $$
begin
  if not pg_catalog.pg_has_role('penstock_queue', 'pg_read_all_stats', 'usage') then
    grant pg_read_all_stats to penstock_queue;
  end if;
exception
  when insufficient_privilege then
    null;
end;
$$;
