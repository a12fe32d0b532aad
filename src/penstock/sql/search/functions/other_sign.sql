-- The other lexeme that a number of a query may be: text search reads INV-1001 as "inv" and "-1001", INV 1001 as "inv" and "1001".
-- Null for other words, and for a number with a sign and fewer than three digits: without it, it is in most documents.
create or replace function search.other_sign(_lexeme text)
returns text
language sql
immutable
parallel safe
as $$
  select case
    when _lexeme ~ '^[0-9][0-9.]*$' then '-' || _lexeme
    when _lexeme ~ '^-[0-9]{3}[0-9.]*$' then substr(_lexeme, 2)
  end;
$$;
