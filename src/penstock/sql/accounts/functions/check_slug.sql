-- Refuses a slug that could not stand in an address. Raises PS005.
create or replace function accounts.check_slug(_slug text)
returns void
language plpgsql
immutable
as $$
begin
  if _slug is null or _slug !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    raise exception using errcode = 'PS005', detail = 'slug',
      message = format('%L is no slug', left(_slug, 80)),
      hint = 'Use 1 to 63 small letters, digits and hyphens, beginning with a letter or digit.';
  end if;
end;
$$;
