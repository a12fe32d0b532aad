/** What the calls about queues, tasks, failures, workers and processes answer. */

export interface StageMinute { readonly at: string; readonly done: number; readonly failed: number }
export interface Stage {
  readonly stage: "received" | "parsing" | "embedding" | "indexed";
  readonly waiting: number;
  readonly running: number;
  readonly done_hour: number;
  readonly failed_hour: number;
  readonly rate_per_minute: number;
  readonly p95_seconds: number | null;
  readonly history: readonly StageMinute[];
}
export interface Overview {
  readonly at: string;
  readonly stages: readonly Stage[];
  readonly documents: { readonly pending: number; readonly processing: number; readonly embedding: number; readonly indexed: number; readonly skipped: number; readonly failed: number; readonly approximate: boolean };
  readonly oldest_waiting: { readonly document_id: string; readonly name: string | null; readonly seconds: number } | null;
  readonly sources_needing: readonly { readonly source_id: string; readonly kind: string; readonly name: string; readonly sentence: string; readonly action: string }[];
  readonly dead: number;
  readonly failed_documents: number;
  readonly workers: { readonly alive: number; readonly silent: number; readonly lost: number };
  readonly usage: { readonly month: string; readonly tokens: number; readonly calls: number; readonly texts: number; readonly reused: number; readonly cost: number | null };
  readonly verdict: { readonly state: "well" | "attention" | "failing"; readonly sentences: readonly { readonly text: string; readonly link: string }[] };
}

export interface QueueRow {
  readonly queue: string;
  readonly paused: boolean;
  readonly paused_by: string | null;
  readonly paused_at: string | null;
  readonly ready: number;
  readonly running: number;
  readonly waiting: number;
  readonly parked: number;
  readonly dead: number;
  readonly approximate: boolean;
  readonly oldest_ready_seconds: number | null;
  readonly max_running: number | null;
  readonly rate: string | null;
  readonly workers: number;
  readonly idle_workers: number;
  readonly per_minute: number;
  readonly p95_wait_seconds: number | null;
  readonly p95_run_seconds: number | null;
}
export interface QueueLimit {
  readonly scope: "queue" | "each_key" | "key";
  readonly key_hash: string | null;
  readonly max_running: number | null;
  readonly rate_count: number | null;
  readonly rate_period_seconds: number | null;
  readonly rate_burst: number | null;
}
export interface QueueSample {
  readonly at: string;
  readonly ready: number | null;
  readonly running: number | null;
  readonly waiting: number | null;
  readonly dead: number | null;
  readonly done: number;
  readonly failed: number;
  readonly p95_wait_seconds: number | null;
  readonly p95_run_seconds: number | null;
}
export interface Queue extends QueueRow {
  readonly limits: readonly QueueLimit[];
  readonly history: readonly QueueSample[];
}

export interface TaskRow {
  readonly task_id: number;
  readonly task_type: string;
  readonly queue: string;
  readonly state: string;
  readonly attempt: number;
  readonly tenant: string | null;
  readonly enqueued_at: string;
  readonly at: string | null;
  readonly worker_id: number | null;
  readonly worker: string | null;
}
export interface Attempt {
  readonly attempt_id: number;
  readonly attempt: number;
  readonly outcome: string;
  readonly worker_id: number | null;
  readonly worker: string | null;
  readonly claimed_at: string | null;
  readonly closed_at: string;
  readonly waited_seconds: number | null;
  readonly ran_seconds: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly traceback: readonly string[] | null;
  readonly versions: Readonly<Record<string, string>>;
}
export interface Task {
  readonly task_id: number;
  readonly task_type: string;
  readonly state: string | null;
  readonly queue: string;
  readonly priority: number;
  readonly tenant: string | null;
  readonly enqueued_at: string;
  readonly scheduled_at: string;
  readonly due_at: string | null;
  readonly payload: unknown;
  readonly payload_redacted: boolean;
  readonly has_unique_key: boolean;
  readonly has_limit_key: boolean;
  readonly lease: { readonly lease_id: number; readonly worker_id: number; readonly worker: string | null; readonly claimed_at: string; readonly deadline_at: string | null; readonly attempt: number; readonly losses: number } | null;
  readonly attempts: readonly Attempt[];
  readonly explanation: readonly { readonly reason: string; readonly explanation: string; readonly remedy: string; readonly link: string | null }[];
}
export interface TaskType {
  readonly task_type: string;
  readonly queue: string;
  readonly priority: number;
  readonly max_attempts: number;
  readonly required_keys: readonly string[];
  readonly schema: JsonSchema | null;
}
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export interface FailureGroup {
  readonly group_id: string;
  readonly kind: "task" | "document";
  readonly fingerprint: string;
  readonly title: string;
  readonly error_code: string;
  readonly example_message: string;
  readonly remedy: string | null;
  readonly task_type: string | null;
  readonly count: number;
  readonly approximate: boolean;
  readonly first_at: string;
  readonly last_at: string;
  readonly example: { readonly task_id: number | null; readonly document_id: string | null };
  readonly history: readonly number[];
}
export interface FailureMember {
  readonly task_id: number | null;
  readonly document_id: string | null;
  readonly name: string;
  readonly at: string;
  readonly message: string;
}
export interface FailureDetail extends FailureGroup {
  readonly members: readonly FailureMember[];
  readonly cursor: string | null;
}

export interface WorkerRow {
  readonly worker_id: number;
  readonly worker: string;
  readonly queues: readonly string[];
  readonly started_at: string;
  readonly silent_seconds: number;
  readonly state: "alive" | "silent" | "lost" | "stopped";
  readonly leases: number;
  readonly versions: Readonly<Record<string, string>>;
}
export interface ProcessRow {
  readonly id: string;
  readonly process: string;
  readonly root_id: number;
  readonly tenant: string | null;
  readonly state: "open" | "succeeded" | "failed";
  readonly attempts: number;
  readonly failed_attempts: number;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly next_check_at: string | null;
  readonly error_message: string | null;
}
export interface ProcessAttempt {
  readonly number: number;
  readonly attempt_id: number;
  readonly task_id: number | null;
  readonly task_state: string | null;
  readonly started_at: string;
  readonly outcome: "succeeded" | "failed" | null;
  readonly ended_at: string | null;
  readonly error_message: string | null;
  readonly retriable: boolean | null;
  readonly before_restart: boolean;
}
export interface Process {
  readonly id: string;
  readonly process: string;
  readonly root_id: number;
  readonly channel: string;
  readonly tenant: string | null;
  readonly about: Readonly<Record<string, string | number>>;
  readonly state: "open" | "succeeded" | "failed";
  readonly created_at: string;
  readonly opened_at: string | null;
  readonly next_check_at: string | null;
  readonly late_seconds: number | null;
  readonly supervisor_task_id: number | null;
  readonly supervisor_task_state: string | null;
  readonly swept: number | null;
  readonly max_attempts: number;
  readonly attempts: readonly ProcessAttempt[];
}
