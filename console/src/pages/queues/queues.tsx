/** Queues: depth, rate and latency of each, and who works on it; pause and resume all that match. */

import { useMemo } from "react";
import type { QueueRow } from "../../api/operate";
import { A } from "../../app/address";
import { useMayRun } from "../../app/session";
import { compact, rate } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge, StateCount } from "../../ui/state";
import { Age, Brief, Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";
import { PauseButton } from "./pause-button";

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["running", "paused"] },
  { name: "q", label: "name", text: true },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "queues.pause", verb: "Pause", noun: "queue", about: "Workers stop taking tasks from them; running tasks finish." },
  { action: "queues.resume", verb: "Resume", noun: "queue", about: "Workers take tasks from them again." },
];

const COLUMNS: readonly Column<QueueRow>[] = [
  ...(["ready", "running", "waiting", "parked", "dead"] as const).map(
    (state): Column<QueueRow> => ({
      key: state,
      label: state.charAt(0).toUpperCase() + state.slice(1),
      width: state === "running" || state === "waiting" ? "4.2rem" : "3.8rem",
      right: true,
      sort: (queue) => queue[state],
      render: (queue) => (
        <A to={`/tasks?queue=${encodeURIComponent(queue.queue)}&state=${state}`} className="number-link" aria-label={`${queue[state]} ${state} in ${queue.queue}`}>
          <StateCount state={state} n={queue[state]} approximate={queue.approximate && queue[state] > 10_000} />
        </A>
      ),
    }),
  ),
  { key: "oldest", label: "Oldest", width: "3.9rem", right: true, sort: (queue) => queue.oldest_ready_seconds, render: (queue) => <Age seconds={queue.oldest_ready_seconds} brief /> },
  { key: "done", label: "Done", width: "4.4rem", right: true, sort: (queue) => queue.per_minute, render: (queue) => rate(queue.per_minute) },
  { key: "wait", label: "p95 wait", width: "4.5rem", right: true, sort: (queue) => queue.p95_wait_seconds, render: (queue) => <Brief seconds={queue.p95_wait_seconds} /> },
  { key: "run", label: "p95 run", width: "4.5rem", right: true, sort: (queue) => queue.p95_run_seconds, render: (queue) => <Brief seconds={queue.p95_run_seconds} /> },
  {
    key: "workers",
    label: "Workers",
    width: "4.3rem",
    right: true,
    sort: (queue) => queue.workers,
    render: (queue) =>
      queue.workers === 0 ? (
        <span className={queue.ready > 0 ? "tone-text-bad" : "zero"}>none</span>
      ) : (
        <span title={`${queue.idle_workers} of them are idle`}>{compact(queue.workers)}</span>
      ),
  },
];

const QUEUE: Column<QueueRow> = {
  key: "queue",
  label: "Queue",
  width: "minmax(9.5rem, 2fr)",
  sort: (queue) => queue.queue,
  render: (queue) => <Name>{queue.queue}</Name>,
  after: (queue) =>
    queue.paused ? (
      <>
        <StateBadge state="paused" />{" "}
        <span className="quiet small">
          {queue.paused_by ? `by ${queue.paused_by} ` : ""}
          <Time at={queue.paused_at} />
        </span>
      </>
    ) : null,
};

const PAUSE: Column<QueueRow> = { key: "pause", label: "", width: "6.5rem", right: true, render: (queue) => <PauseButton queue={queue} /> };

export default function QueuesPage() {
  const may = useMayRun();
  const columns = useMemo(() => [QUEUE, ...COLUMNS, ...(may ? [PAUSE] : [])], [may]);
  return (
    <Page title="Queues" lead="Current depth, throughput over the last five minutes, latency over the last hour.">
      <ActingList
        label="Queues"
        path="/v1/queues"
        options={{ live: ["queues", "tasks", "dead", "workers"] }}
        fields={FIELDS}
        page="queues"
        placeholder="Filter by name or state:"
        columns={columns}
        rowKey={(queue) => queue.queue}
        rowHref={(queue) => `/queues/${encodeURIComponent(queue.queue)}`}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No queue yet" command="penstock worker">
            A queue appears when a worker declares it or a task is put into it.
          </EmptyState>
        }
      />
    </Page>
  );
}
