-- Whether an event has to be looked at, given the newest one that was. Sequencers of one object are hexadecimal numbers that are
-- compared from the left: the shorter one is filled with zeros on the right. Without a sequencer there is no order: look.
create or replace function ingest.is_newer_event(_sequencer text, _known text)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    rpad(upper(_sequencer), greatest(length(_sequencer), length(_known)), '0') collate "C"
      > rpad(upper(_known), greatest(length(_sequencer), length(_known)), '0') collate "C",
    true);
$$;
