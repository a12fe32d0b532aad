-- Syncs: workers lost since the last checkpoint, items mapped again from what is stored, and an estimate before the first sync.
alter table ingest.ingestion_job
add column lost_runs integer not null default 0,
add column items_remapped bigint not null default 0,
add column estimate jsonb;
