-- Gates: a project's own questions, which a re-index or a switch of the embedder has to answer as well as before, or it does not go
-- live.

create type ingest.gate_mode as enum ('block', 'warn');
create type ingest.gate_state as enum ('asking', 'passed', 'failed', 'accepted', 'cancelled');

-- `version` rises with every change of the gate or its questions: what was judged before is judged again.
create table ingest.gate (
  project_id uuid primary key references accounts.project,
  tenant_id uuid not null references accounts.tenant,
  mode ingest.gate_mode not null,
  allowed_loss double precision not null constraint loss_is_a_share check (allowed_loss between 0 and 1),
  version integer not null default 1,
  set_by text not null,
  set_at timestamptz not null
);
create index gate_tenant_id_idx on ingest.gate (tenant_id);

-- `documents`: each by id, path, end of a path, or file name.
create table ingest.gate_question (
  project_id uuid not null references ingest.gate on delete cascade,
  place integer not null,
  tenant_id uuid not null,
  question text not null,
  documents text[] not null constraint question_has_documents check (cardinality(documents) > 0),
  constraint gate_question_pkey primary key (project_id, place)
);
create index gate_question_tenant_id_idx on ingest.gate_question (tenant_id);

-- One evaluation of the questions for one re-index: how the live index answers them and how the staged one would. `settings` is
-- what the documents are staged with, the code's version included. `worse` has the questions that got worse most, up to 100.
-- Evaluations outlive their re-index.
create table ingest.gate_evaluation (
  evaluation_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  run_id uuid not null,
  gate_version integer not null,
  settings text not null,
  from_embedder text not null,
  to_embedder text not null,
  mode ingest.gate_mode not null,
  allowed_loss double precision not null,
  state ingest.gate_state not null default 'asking',
  task_id bigint,
  waits_for text,
  questions integer not null,
  ndcg_before double precision,
  ndcg_after double precision,
  worse jsonb not null default '[]',
  worse_count integer not null default 0,
  better_count integer not null default 0,
  unknown_documents text[] not null default '{}',
  created_at timestamptz not null,
  evaluated_at timestamptz,
  decided_at timestamptz,
  decided_by text,
  constraint judged_has_figures check (state not in ('passed', 'failed') or ndcg_before is not null and ndcg_after is not null),
  constraint decided_by_somebody check ((state in ('accepted', 'cancelled')) = (decided_at is not null))
);
create unique index one_evaluation_of_what_is_staged on ingest.gate_evaluation (run_id, gate_version, settings);
create index gate_evaluation_project_id_idx on ingest.gate_evaluation (project_id, evaluation_id);
create index gate_evaluation_tenant_id_idx on ingest.gate_evaluation (tenant_id);

-- A run that `holds` publishes all documents at once, after the gate, although it does not switch the embedder.
alter table ingest.bulk_run add column holds boolean not null default false;

-- What was found in the staged generation, if it replaces what the document's row says.
alter table ingest.document add column staged_facts jsonb;
