-- The envelope of a call that succeeded; `outcome` says in one word what happened.
create or replace function internal.progress(_outcome text, _payload jsonb default '{}')
returns jsonb
language sql
immutable
parallel safe
as $$
  select jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object('outcome', _outcome) || _payload);
$$;
