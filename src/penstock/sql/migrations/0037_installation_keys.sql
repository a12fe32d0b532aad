-- Keys of programs that operate the whole installation, with a role as sessions have it.

create table internal.operator_key (
  key_id uuid primary key,
  name text not null,
  prefix text not null,
  key_sha256 bytea not null constraint operator_key_known_once unique,
  role accounts.role not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  used_at timestamptz
);
