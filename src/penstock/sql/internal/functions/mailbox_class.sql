-- The class of the advisory locks (class, mailbox) that a worker's listener holds while it is connected.
create or replace function internal.mailbox_class()
returns integer
language sql
immutable
parallel safe
as $$
  select 7306574;
$$;
