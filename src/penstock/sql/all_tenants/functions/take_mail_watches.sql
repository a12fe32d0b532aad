-- Gives a worker the mailboxes whose server it waits on, of every tenant: those it holds, and free ones up to its share, which is
-- the same for every worker that waits, and at most _most. What it holds beyond its share, or may not hold any more, it loses.
-- `version` changes with the source's settings and password. The worker calls this again well before _seconds are over.
-- Locks: an advisory lock, without waiting for it: a worker that does not get it keeps what it has. Raises PS005.
create or replace function all_tenants.take_mail_watches(_watcher_id uuid, _most integer, _seconds double precision)
returns table (tenant_id uuid, source_id uuid, kind text, config jsonb, password_id uuid, version text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := internal.clock();
  v_until timestamptz := v_now + make_interval(secs => _seconds);
  v_share integer;
  v_held integer;
begin
  if _most is null or _most < 0 or _seconds is null or _seconds <= 0 then
    raise exception using errcode = 'PS005', detail = 'most',
      message = 'a worker waits on zero or more mailboxes for a time', hint = 'Use _most >= 0 and _seconds > 0.';
  end if;
  insert into internal.mail_watcher as w (watcher_id, seen_until) values (_watcher_id, v_until)
  on conflict (watcher_id) do update set seen_until = excluded.seen_until;
  delete from ingest.mail_watch m
  where m.watcher_id = _watcher_id and not ingest.is_watched(m.source_id);
  update ingest.mail_watch m set held_until = v_until
  where m.watcher_id = _watcher_id and m.held_until > v_now;
  if pg_try_advisory_xact_lock(hashtextextended('penstock mail watches', 0)) then
    delete from internal.mail_watcher w where w.seen_until <= v_now;
    delete from ingest.mail_watch m where m.held_until <= v_now;
    select least(_most, ceil(
      (select count(*) from ingest.source s where s.kind = 'imap' and ingest.is_watched(s.source_id))::numeric
      / (select count(*) from internal.mail_watcher))) into v_share;
    select count(*) into v_held from ingest.mail_watch m where m.watcher_id = _watcher_id;
    delete from ingest.mail_watch m where m.source_id in (
      select x.source_id from ingest.mail_watch x where x.watcher_id = _watcher_id
      order by x.source_id limit greatest(v_held - v_share, 0));
    insert into ingest.mail_watch (source_id, tenant_id, watcher_id, held_until)
    select s.source_id, s.tenant_id, _watcher_id, v_until
    from ingest.source s
    where s.kind = 'imap' and ingest.is_watched(s.source_id)
      and not exists (select from ingest.mail_watch m where m.source_id = s.source_id)
    order by s.source_id
    limit greatest(v_share - v_held, 0)
    on conflict (source_id) do nothing;
  end if;
  return query
  select s.tenant_id, s.source_id, s.kind, s.config, s.secret_ids[1], md5(s.config::text || s.secret_ids::text)
  from ingest.mail_watch m
  join ingest.source s on s.source_id = m.source_id
  where m.watcher_id = _watcher_id and m.held_until > v_now;
end;
$$;
