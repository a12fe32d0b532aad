-- Messages to people, as they are asked for; 0008_processes has the processes that send them.

create table comms.email_message (
  email_message_id bigint generated always as identity primary key,
  tenant_id uuid not null references accounts.tenant,
  from_address text,
  to_addresses text[] not null,
  cc_addresses text[] not null default '{}',
  bcc_addresses text[] not null default '{}',
  reply_to text,
  subject text not null,
  body_text text,
  body_html text,
  message_id text not null,
  created_at timestamptz not null,
  constraint email_has_a_body check (num_nonnulls(body_text, body_html) > 0)
);
create index email_message_tenant_id_idx on comms.email_message (tenant_id, email_message_id);

create table comms.email_attachment (
  email_message_id bigint not null references comms.email_message,
  ordinal integer not null,
  tenant_id uuid not null references accounts.tenant,
  filename text not null,
  mime_type text not null,
  content bytea not null,
  constraint email_attachment_pkey primary key (email_message_id, ordinal)
);
create index email_attachment_tenant_id_idx on comms.email_attachment (tenant_id);

create table comms.sms_message (
  sms_message_id bigint generated always as identity primary key,
  tenant_id uuid not null references accounts.tenant,
  from_number text,
  to_number text not null,
  body text not null,
  created_at timestamptz not null
);
create index sms_message_tenant_id_idx on comms.sms_message (tenant_id, sms_message_id);
