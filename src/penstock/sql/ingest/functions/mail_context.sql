-- What the rules have to know about some mails of a source, beside the mails: the mailbox's own addresses; which of _domains are
-- clients'; per sender the rules that a person overruled; which of _external_ids a person restored, and which are documents already;
-- in which mails each of _repeat_keys was (of 20 items at most); which of _thread_keys have a document. Raises PS012.
create or replace function ingest.mail_context(
  _source_id uuid,
  _senders text[],
  _domains text[],
  _external_ids text[],
  _repeat_keys text[],
  _thread_keys text[]
)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'own_addresses', (
      select coalesce(jsonb_agg(distinct lower(o.address)), '[]')
      from ingest.source s
      cross join lateral (values (s.account), (s.name), (s.config ->> 'mailbox')) o (address)
      where s.source_id = _source_id and s.tenant_id = internal.require_tenant() and o.address like '%_@_%' and o.address not like '% %'),
    'client_domains', (
      select coalesce(jsonb_agg(d.domain), '[]')
      from unnest(_domains) d (domain)
      where exists (
        select from ingest.client_key k
        where k.tenant_id = internal.require_tenant() and k.key = 'domain:' || d.domain)),
    'restored', (
      select coalesce(jsonb_object_agg(r.sender, r.rules), '{}')
      from (
        select d.sender, jsonb_agg(distinct w.rule) as rules
        from ingest.decision d
        cross join lateral (
          select f ->> 'rule' as rule from jsonb_array_elements(d.reasons) f where (f ->> 'weight')::double precision < 0
          union
          select d.name) w
        where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.sender = any (_senders)
          and d.reversed_at is not null and d.stage = 1
        group by d.sender) r),
    'restored_items', (
      select coalesce(jsonb_agg(d.external_id), '[]')
      from ingest.decision d
      where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.stage = 1
        and d.external_id = any (_external_ids) and d.reversed_at is not null),
    'kept_items', (
      select coalesce(jsonb_agg(s.external_id), '[]')
      from ingest.source_document s
      join ingest.document d on d.document_id = s.document_id and d.deleted_at is null
      where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.external_id = any (_external_ids)),
    'seen', (
      select coalesce(jsonb_object_agg(r.key, r.mails), '{}')
      from (
        select k.key, (
          select jsonb_agg(distinct split_part(near.external_id, '#', 1))
          from (
            select s.external_id from ingest.source_document s
            where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.stream = 'mail'
              and s.raw_payload ? 'repeat_key' and s.raw_payload ->> 'repeat_key' = k.key
            limit 20) near) as mails
        from unnest(_repeat_keys) k (key)) r
      where r.mails is not null),
    'accepted_threads', (
      select coalesce(jsonb_agg(t.key), '[]')
      from unnest(_thread_keys) t (key)
      where exists (
        select from ingest.source_document s
        where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.stream = 'mail'
          and s.document_id is not null and s.raw_payload ->> 'thread_key' = t.key)));
$$;
