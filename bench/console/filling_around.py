"""What surrounds tasks and documents: sources, decisions, clients, mails, the audit, operations, chunks."""

from __future__ import annotations

from uuid import UUID

from penstock.db import Connection

SOURCES = 200
DECISIONS = 50_000
CLIENTS = 20_000
MAILS = 20_000
ACTIONS = 100_000
OPERATIONS = 500
ITEMS = 20
CHUNKS = 12

_SOURCES = """
insert into ingest.source (source_id, tenant_id, project_id, kind, name, status, created_at, updated_at)
select internal.uuid7(), $1, $2, (array['gmail', 'outlook', 'hubspot', 'google_drive'])[1 + n % 4],
  'account-' || n || '@mill.example', 'active', now(), now()
from generate_series(1, $3::integer) n
"""
_DECISIONS = """
insert into ingest.decision (decision_id, tenant_id, source_id, external_id, stage, verdict, name,
  skip_reason, reasons, sender, subject, filename, version, decided_at)
select internal.uuid7(), $1, s.sources[1 + n % cardinality(s.sources)], 'item-' || n, 1, 'drop',
  (array['shown_image', 'invitation', 'newsletter'])[1 + n % 3],
  (array['signature_image', 'calendar', 'noise'])[1 + n % 3], '["the text shows it"]',
  'sender' || n % 700 || '@acme.example', 'Invoice ' || n, 'image' || n || '.png', '1', now()
from generate_series(1, $2::integer) n,
  (select array_agg(o.source_id) as sources from ingest.source o where o.tenant_id = $1) s
"""
_CLIENTS = """
with made as (
  insert into ingest.client_intelligence (client_id, tenant_id, project_id, source_id, external_id,
    client_name, industry, key_facts, created_at, updated_at)
  select internal.uuid7(), $1, $2, s.sources[1 + n % cardinality(s.sources)], 'companies/' || n,
    'Client number ' || n / 2, 'Mills', jsonb_build_object('employees', n % 500, 'ar_balance', n * 3), now(),
    now() - n * interval '1 minute'
  from generate_series(1, $3::integer) n,
    (select array_agg(o.source_id) as sources from ingest.source o where o.tenant_id = $1) s
  returning client_id, client_name, industry, updated_at
), grouped as (
  select m.client_name, min(m.client_id::text)::uuid as group_id, count(*) as records,
    max(m.updated_at) as updated_at
  from made m group by m.client_name
), joined as (
  insert into ingest.client_group (
    group_id, tenant_id, client_name, name_key, industry, record_count, updated_at)
  select g.group_id, $1, g.client_name, lower(g.client_name), 'Mills', g.records, g.updated_at from grouped g
)
insert into ingest.client_member (client_id, tenant_id, group_id)
select m.client_id, $1, g.group_id from made m join grouped g using (client_name)
"""
_MAILS = """
with mails as (
  insert into comms.email_message (tenant_id, to_addresses, subject, body_text, message_id, created_at)
  select $1, array['a@acme.example'], 'Report ' || n, 'Text', 'message-' || n, now() - n * interval '1 minute'
  from generate_series(1, $2::integer) n
  returning email_message_id, created_at
), sent as (
  insert into comms.send_email_task (tenant_id, email_message_id, created_at)
  select $1, m.email_message_id, m.created_at from mails m
  returning send_email_task_id, created_at
), tried as (
  insert into comms.send_email_attempt (tenant_id, send_email_task_id, task_id, created_at)
  select $1, s.send_email_task_id, s.send_email_task_id, s.created_at from sent s
  returning send_email_attempt_id, send_email_task_id, created_at
), failed as (
  insert into comms.send_email_attempt_failed (
    send_email_attempt_id, tenant_id, error_message, retriable, created_at)
  select t.send_email_attempt_id, $1, 'the server refused the address', true, t.created_at
  from tried t where t.send_email_task_id % 10 = 0
), opened as (
  insert into internal.open_root (
    process, root_id, tenant_id, check_number, task_id, next_check_at, opened_at)
  select 'comms.send_email', t.send_email_task_id, $1, 1, t.send_email_task_id,
    now() + interval '1 day', t.created_at
  from tried t where t.send_email_task_id % 100 = 0
)
insert into comms.send_email_attempt_succeeded (send_email_attempt_id, tenant_id, created_at)
select t.send_email_attempt_id, $1, t.created_at from tried t where t.send_email_task_id % 10 > 0
"""
_ACTIONS = """
insert into accounts.audit_entry (
  audit_id, tenant_id, at, who, role, via, action, target, status, detail, request_id)
select internal.uuid7(), $1, now() - ($2 - n) * interval '1 minute', 'person-' || n % 30, 'operator',
  'session', 'POST /v1/tasks/{task_id}/cancel', n::text, 200, '{}', 'request-' || n
from generate_series(1, $2::integer) n
"""
_OPERATIONS = """
with made as (
  insert into ingest.operation (operation_id, tenant_id, action, filter, state, expected_count, total, done,
    started_by, started_at, updated_at, finished_at)
  select internal.uuid7(), $1, 'documents.retry', '{"status": "failed"}', 'done', $3, $3, $3, 'person',
    now(), now(), now()
  from generate_series(1, $2::integer) n
  returning operation_id
)
insert into ingest.operation_item (operation_id, ordinal, tenant_id, item, outcome)
select m.operation_id, n, $1, internal.uuid7()::text, 'done'
from made m, generate_series(0, $3::integer - 1) n
"""
_CHUNKS = """
insert into ingest.chunk (tenant_id, document_id, generation, ordinal, chunk_id, project_id, text,
  token_count, text_length, char_start, char_end, page_from, page_to, heading_path,
  embedding_model, embedding_text_sha256)
select d.tenant_id, d.document_id, 1, n, gen_random_uuid(), d.project_id,
  repeat('The sluice was repaired. ', 60), 300, 1500, n * 1500, (n + 1) * 1500, 1 + n / 3, 1 + n / 3,
  array['Report'], 'wordllama-l2-supercat-256',
  sha256(convert_to(d.document_id::text || n, 'UTF8'))
from ingest.document d, generate_series(0, $2::integer - 1) n
where d.tenant_id = $1 and d.status = 'indexed' and d.created_at > now() - interval '3 days'
"""


async def fill_around(admin: Connection, tenant_id: UUID, project_id: UUID) -> None:
    """Called between tasks and documents and their analysis, with triggers off."""
    await admin.execute(_SOURCES, tenant_id, project_id, SOURCES)
    await admin.execute(_DECISIONS, tenant_id, DECISIONS)
    await admin.execute(_CLIENTS, tenant_id, project_id, CLIENTS)
    await admin.execute(_MAILS, tenant_id, MAILS)
    await admin.execute(_ACTIONS, tenant_id, ACTIONS)
    await admin.execute(_OPERATIONS, tenant_id, OPERATIONS, ITEMS)
    await admin.execute(_CHUNKS, tenant_id, CHUNKS)
