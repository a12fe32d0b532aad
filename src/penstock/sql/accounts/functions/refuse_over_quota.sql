-- Rejects what would exceed a quota, naming the quota, what is used, the limit and how to raise it. Raises PS020.
create or replace function accounts.refuse_over_quota(_quota text, _unit text, _used numeric, _limit bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if _used > _limit then
    raise exception using errcode = 'PS020', detail = _quota,
      message = format('the tenant''s quota %s is used up: with this it would have %s of %s %s',
        _quota, _used, _limit, _unit),
      hint = format('Delete some, or ask the operator to raise it: penstock tenant set SLUG --%s N (0: no quota).',
        replace(_quota, '_', '-'));
  end if;
end;
$$;
