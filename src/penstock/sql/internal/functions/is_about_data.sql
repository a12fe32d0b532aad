-- Whether an error with this SQLSTATE was caused by the data of the statement, so that trying the same again is in vain. The
-- others are about the connection, the transaction, privileges and the schema, locks and time limits, resources or the server:
-- they would have hit any other data as well.
create or replace function internal.is_about_data(_sqlstate text)
returns boolean
language sql
immutable
parallel safe
as $$
  select left(_sqlstate, 2) <> all ('{08,25,28,40,42,53,55,57,58,F0,HV,XX}');
$$;
