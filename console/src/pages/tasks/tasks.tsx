/** Tasks in one state, by queue and type. */

import { useMemo, useState } from "react";
import { useApi, useRows } from "../../api/queries";
import type { QueueRow, TaskRow, TaskType } from "../../api/operate";
import { A, usePageQuery } from "../../app/address";
import { useMay, useSession, useTenant } from "../../app/session";
import { compact } from "../../lib/numbers";
import { writeQuery, type Field } from "../../lib/filters";
import { BulkBar } from "../../ui/bulk-bar";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { useSelection } from "../../ui/use-selection";
import { Name, Since, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { actionsOn } from "./actions-on";
import { EnqueueDialog } from "./enqueue-dialog";

const PENDING = ["ready", "running", "waiting", "parked", "dead"] as const;
const ENDED = ["completed", "failed", "lost", "snoozed", "cancelled"] as const;
const AT: Readonly<Record<string, string>> = { running: "Running for", waiting: "Due", parked: "Due", dead: "Died" };

export default function TasksPage() {
  const [query] = usePageQuery();
  const queues = useApi<{ items: QueueRow[] }>("/v1/queues", { live: ["queues", "tasks", "dead"] });
  const types = useApi<{ items: TaskType[] }>("/v1/task-types");
  const [enqueuing, setEnqueuing] = useState(false);
  const may = useMay("operate");
  const state = query["state"] ?? "running";
  const fields = useMemo(
    (): Field[] => [
      { name: "queue", label: "queue", options: (queues.data?.items ?? []).map((queue) => queue.queue), single: true, plain: true },
      { name: "task_type", label: "type", options: (types.data?.items ?? []).map((type) => type.task_type), single: true, plain: true },
    ],
    [queues.data, types.data],
  );
  const filter = useFilter(fields);
  const [selection, select] = useSelection();
  const list = useRows<TaskRow>("/v1/tasks", (row) => `${row.task_id}`, {
    query: { ...filter, state, limit: 100 },
    live: ["tasks", "dead", "queues"],
  });
  const actions = actionsOn(state);
  return (
    <Page
      title="Tasks"
      actions={
        may ? (
          <button type="button" onClick={() => setEnqueuing(true)}>
            Enqueue …
          </button>
        ) : null
      }
    >
      <States queues={queues.data?.items} state={state} queue={filter["queue"]} query={filter} />
      <FilterBar fields={fields} page="tasks" placeholder="Filter by queue: or type:" />
      <VirtualTable
        label="Tasks"
        list={list}
        columns={useColumns(state)}
        rowKey={(row) => `${row.task_id}`}
        rowHref={(row) => `/tasks/${row.task_id}`}
        {...(may && actions.length ? { selection, onSelect: select } : {})}
        empty={
          <EmptyState title={`No task is ${state}`}>
            {Object.keys(filter).length ? "No task in this state matches the filter." : "Choose another state above."}
          </EmptyState>
        }
      />
      {may && actions.length ? (
        <BulkBar
          actions={actions}
          filter={state === "dead" ? filter : { ...filter, state }}
          selection={selection}
          onSelect={select}
          total={list.total}
          approximate={list.approximate}
          loaded={list.rows.length}
          changes={["tasks", "dead", "queues"]}
        />
      ) : null}
      {enqueuing ? <EnqueueDialog onClose={() => setEnqueuing(false)} {...(filter["queue"] ? { queue: filter["queue"] } : {})} /> : null}
    </Page>
  );
}

/** The filter is the summary: every state with its count. */
function States({ queues, state, queue, query }: { queues: readonly QueueRow[] | undefined; state: string; queue: string | undefined; query: Readonly<Record<string, string>> }) {
  const counted = (queues ?? []).filter((row) => !queue || row.queue === queue);
  const sum = (name: (typeof PENDING)[number]) => counted.reduce((whole, row) => whole + row[name], 0);
  const about = counted.some((row) => row.approximate);
  return (
    <nav className="states" aria-label="States">
      {PENDING.map((name) => (
        <A key={name} to={`/tasks${writeQuery({ ...query, state: name })}`} aria-current={name === state ? "true" : undefined}>
          <StateBadge state={name} /> {queues ? <b>{about && sum(name) > 10_000 ? "≈ " : ""}{compact(sum(name))}</b> : null}
        </A>
      ))}
      <span className="states-rule" aria-hidden="true" />
      {ENDED.map((name) => (
        <A key={name} to={`/tasks${writeQuery({ ...query, state: name })}`} aria-current={name === state ? "true" : undefined}>
          <StateBadge state={name} />
        </A>
      ))}
    </nav>
  );
}

function useColumns(state: string): readonly Column<TaskRow>[] {
  const session = useSession();
  const [tenant] = useTenant();
  const tenants = Boolean(session?.is_installation) && tenant === null;
  return useMemo(
    () => [
      { key: "task", label: "Task", width: "minmax(11rem, 2fr)", render: (row) => <><Name>{row.task_type}</Name> <span className="quiet mono">{row.task_id}</span></> },
      { key: "queue", label: "Queue", width: "minmax(6rem, 1fr)", render: (row) => <Name>{row.queue}</Name> },
      ...(tenants ? [{ key: "tenant", label: "Tenant", width: "minmax(5rem, 1fr)", render: (row: TaskRow) => (row.tenant ? <Name>{row.tenant}</Name> : <span className="zero">–</span>) }] : []),
      { key: "state", label: "State", width: "7rem", render: (row) => <StateBadge state={row.state} /> },
      { key: "attempt", label: "Attempt", width: "4.5rem", right: true, render: (row) => row.attempt },
      { key: "worker", label: "Worker", width: "minmax(6rem, 1fr)", wideOnly: true, render: (row) => (row.worker ? <Name>{row.worker}</Name> : <span className="zero">–</span>) },
      { key: "enqueued", label: "Enqueued", width: "6.5rem", right: true, wideOnly: state !== "ready", render: (row) => <Time at={row.enqueued_at} /> },
      ...(state === "ready"
        ? []
        : [{ key: "at", label: AT[state] ?? "Ended", width: "6.5rem", right: true, render: (row: TaskRow) => (state === "running" && row.at ? <Since at={row.at} /> : <Time at={row.at} />) }]),
    ],
    [state, tenants],
  );
}
