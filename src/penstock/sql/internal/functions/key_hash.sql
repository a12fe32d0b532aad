-- Keys are stored hashed: producers put personal data into them despite advice.
create or replace function internal.key_hash(_scope text, _key text)
returns bytea
language sql
immutable
parallel safe
as $$
  select substr(sha256(convert_to(_scope || chr(31) || _key, 'UTF8')), 1, 16);
$$;
