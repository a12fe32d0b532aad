-- Since when an embedder has not answered. All workers share it, so that one of them at a time tries again while the
-- others wait. A row is deleted when the embedder answers.
create table internal.embedder_outage (
  embedder text primary key,
  since timestamptz not null,
  failed_at timestamptz not null,
  retry_at timestamptz not null,
  failures integer not null,
  reason text not null
);
