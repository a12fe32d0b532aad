-- A source's tokens in generations: a refresh writes the next generation of a secret first and points the source at it second;
-- what nothing points at any more is orphaned, and swept later.

-- All secrets of earlier releases are of webhooks. A column default reaches rows that row security would hide from an update.
alter table vault.secret
  add column purpose text not null default 'webhook'
    constraint purpose_is_plain check (purpose ~ '^[a-z][a-z0-9_]{0,62}$'),
  add column source_id uuid references ingest.source,
  add column generation integer constraint generation_is_positive check (generation > 0),
  add column orphaned_at timestamptz,
  add constraint source_and_generation_go_together check ((source_id is null) = (generation is null));
alter table vault.secret alter column purpose drop default;

-- A second refresh at the same time fails here, loudly, instead of replacing the tokens of the first.
create unique index one_secret_per_generation on vault.secret (source_id, purpose, generation);
create index secret_orphaned_at_idx on vault.secret (orphaned_at) where orphaned_at is not null;
