/** Workers and what they run; ask those that match to stop. */

import type { WorkerRow } from "../../api/operate";
import { A } from "../../app/address";
import { useMayRun } from "../../app/session";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Age, Count, Name, Since, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["alive", "stopping", "silent", "lost", "stopped"] },
  { name: "queue", label: "queue", single: true, plain: true },
  { name: "q", label: "name", text: true },
];

const ACTIONS: readonly BulkAction[] = [
  {
    action: "workers.stop",
    verb: "Stop",
    noun: "worker",
    danger: true,
    about:
      "Each stops taking tasks, finishes or hands back the ones it holds, and exits, as after SIGTERM. Its supervisor (systemd, Kubernetes, penstock up) may start a new one.",
  },
];

const COLUMNS: readonly Column<WorkerRow>[] = [
  { key: "worker", label: "Worker", width: "minmax(8rem, 1.5fr)", sort: (worker) => worker.worker, render: (worker) => <Name>{worker.worker}</Name> },
  { key: "state", label: "State", width: "6.5rem", sort: (worker) => worker.state, render: (worker) => <StateBadge state={worker.state} /> },
  { key: "leases", label: "Tasks now", width: "5.5rem", right: true, sort: (worker) => worker.leases, render: (worker) => <Count n={worker.leases} /> },
  { key: "beat", label: "Last beat", width: "5.2rem", right: true, render: (worker) => (worker.state === "alive" ? <span className="zero">on time</span> : <Age seconds={worker.silent_seconds} brief />) },
  {
    key: "up",
    label: "Up",
    width: "6rem",
    right: true,
    sort: (worker) => worker.started_at,
    render: (worker) => (worker.state === "alive" ? <Since at={worker.started_at} brief /> : <Time at={worker.started_at} />),
  },
  {
    key: "queues",
    label: "Queues",
    width: "minmax(16rem, 4fr)",
    wrap: true,
    render: (worker) =>
      worker.queues.map((queue, index) => (
        <span key={queue}>
          {index ? ", " : ""}
          <A to={`/queues/${encodeURIComponent(queue)}`}>{queue}</A>
        </span>
      )),
  },
  {
    key: "versions",
    label: "Versions",
    width: "minmax(8rem, 1.2fr)",
    wrap: true,
    render: (worker) => (
      <span className="quiet">
        {Object.entries(worker.versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(", ")}
      </span>
    ),
  },
];

export default function WorkersPage() {
  const may = useMayRun();
  return (
    <Page
      title="Workers"
      lead="A worker that misses heartbeats is silent; once its tasks have been reclaimed it is lost."
      actions={
        <A to="/schedules" className="button">
          Schedules
        </A>
      }
    >
      <ActingList
        label="Workers"
        path="/v1/workers"
        options={{ live: ["workers", "tasks"] }}
        fields={FIELDS}
        page="workers"
        placeholder="Filter by name, state: or queue:"
        columns={COLUMNS}
        rowKey={(worker) => `${worker.worker_id}`}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No worker has run within the last day" command="penstock worker">
            Nothing is processed without one.
          </EmptyState>
        }
      />
    </Page>
  );
}
