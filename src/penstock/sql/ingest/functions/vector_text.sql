-- An embedding stored as little-endian 16-bit floats, in the text form that pgvector reads. For single vectors of clients;
-- chunks are staged as text.
create or replace function ingest.vector_text(_embedding bytea)
returns text
language sql
immutable
strict
parallel safe
as $$
  select '[' || string_agg((case when half.bits >= 32768 then -1 else 1 end * case (half.bits >> 10) & 31
      when 0 then (half.bits & 1023) * power(2::float8, -24)
      else (1 + (half.bits & 1023) / 1024::float8) * power(2::float8, ((half.bits >> 10) & 31) - 15)
    end)::text, ',' order by half.place) || ']'
  from (
    select place, get_byte(_embedding, 2 * place) | (get_byte(_embedding, 2 * place + 1) << 8) as bits
    from generate_series(0, length(_embedding) / 2 - 1) as place
  ) half;
$$;
