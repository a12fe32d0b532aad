/** Short names for what the calls about queues, tasks, failures, workers, processes and operations answer. */

import type { Schemas } from "./client";

export type Overview = Schemas["Overview"];
export type Stage = Schemas["OverviewStage"];
export type QueueRow = Schemas["QueueFigures"];
export type QueueLimit = Schemas["QueueLimit"];
export type Queue = Schemas["QueueDetail"];
export type TaskRow = Schemas["TaskItem"];
export type Attempt = Schemas["TaskAttempt"];
export type FailureGroup = Schemas["FailureGroup"];
export type FailureMember = Schemas["FailureMember"];
export type FailureDetail = Schemas["FailureGroupDetail"];
export type WorkerRow = Schemas["WorkerItem"];
export type Schedule = Schemas["ScheduleRow"];
export type ProcessRow = Schemas["ProcessRow"];
export type Process = Schemas["ShownProcess"];
export type Operation = Schemas["BulkOperation"];
export type OperationItem = Schemas["BulkItem"];
export type Preview = Schemas["BulkPreview"];
export type View = Schemas["SavedView"];

/** In OpenAPI a field with a default may be missing; the server always sends it. */
export type Task = Schemas["TaskDetail"] & { explanation: Schemas["TaskExplanation"][] };

/** The schema of a payload is JSON to OpenAPI; the form reads these parts of it. */
export type TaskType = Omit<Schemas["TaskTypeItem"], "schema"> & { schema: JsonSchema | null };

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}
