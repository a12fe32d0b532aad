-- Rejects a slug that could not be part of a URL. Raises PS005.
create or replace function accounts.check_slug(_slug text)
returns void
language plpgsql
immutable
as $$
begin
  if _slug is null or _slug !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    raise exception using errcode = 'PS005', detail = 'slug',
      message = format('%L is not a valid slug', left(_slug, 80)),
      hint = 'Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit.';
  end if;
end;
$$;
