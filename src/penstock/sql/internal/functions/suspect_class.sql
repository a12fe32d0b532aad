-- The class of lanes for suspects: tasks that two workers were lost with. A worker gets one of them at a time.
create or replace function internal.suspect_class()
returns integer
language sql
immutable
parallel safe
as $$
  select 63;
$$;
