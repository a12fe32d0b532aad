-- The vault's master keys by their ids: which ones secrets were ever sealed with, when a rotation to one ended, and which ones
-- were forgotten. A key itself is here only if AWS KMS protects it, as KMS wrapped it; the newest of these seals.
create table vault.master_key (
  key_id text primary key,
  position bigint generated always as identity,
  wrapped_key bytea,
  kms_key_id text,
  created_at timestamptz not null,
  rotating_since timestamptz,
  rotated_at timestamptz,
  forgotten_at timestamptz,
  constraint wrapped_by_a_kms_key check ((wrapped_key is null) = (kms_key_id is null)),
  constraint forgotten_is_gone check (forgotten_at is null or wrapped_key is null)
);
create index secret_key_id_idx on vault.secret (key_id);
