/** The cron schedules that workers fire: run one now, switch them off and on. */

import { useMemo } from "react";
import { patch, post } from "../../api/client";
import { useAction } from "../../api/queries";
import type { Schedule } from "../../api/operate";
import { A } from "../../app/address";
import { useMayRun } from "../../app/session";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState, ErrorBox } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["on", "off"] },
  { name: "q", label: "name", text: true },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "schedules.run", verb: "Run now", noun: "schedule", about: "Each one's task is enqueued now, in addition to its regular runs." },
  { action: "schedules.pause", verb: "Switch off", noun: "schedule", about: "They do not run until they are switched on again." },
  { action: "schedules.resume", verb: "Switch on", noun: "schedule", about: "A run that was missed in between happens once." },
];

const COLUMNS: readonly Column<Schedule>[] = [
  { key: "name", label: "Schedule", width: "minmax(12rem, 2fr)", sort: (row) => row.schedule_name, render: (row) => <Name>{row.schedule_name}</Name> },
  {
    key: "when",
    label: "When",
    width: "minmax(10rem, 1fr)",
    render: (row) => (
      <>
        <code>{row.cron}</code> <span className="quiet">{row.timezone}</span>
      </>
    ),
  },
  { key: "task", label: "Task", width: "minmax(8rem, 1fr)", sort: (row) => row.task_type, render: (row) => <Name>{row.task_type}</Name> },
  {
    key: "last",
    label: "Last run",
    width: "6.5rem",
    right: true,
    render: (row) =>
      row.last_task_id ? (
        <A to={`/tasks/${row.last_task_id}`}>
          <Time at={row.last_at} />
        </A>
      ) : (
        <Time at={row.last_at} />
      ),
  },
  { key: "next", label: "Next run", width: "6.5rem", right: true, sort: (row) => row.next_at, render: (row) => (row.enabled ? <Time at={row.next_at} /> : <StateBadge state="paused" word="off" />) },
];

export default function SchedulesPage() {
  const may = useMayRun();
  const path = (row: Schedule) => `/v1/schedules/${encodeURIComponent(row.schedule_name)}`;
  const run = useAction(
    (row: Schedule) => post<{ task_id: number }>(`${path(row)}/run`),
    ["tasks", "schedules"],
    ({ task_id }) => toast(<>Started as task <A to={`/tasks/${task_id}`}>{task_id}</A>.</>),
  );
  const toggle = useAction((row: Schedule) => patch(path(row), { enabled: !row.enabled }), ["schedules"]);
  const columns = useMemo(
    (): readonly Column<Schedule>[] =>
      may
        ? [
            ...COLUMNS,
            {
              key: "act",
              label: "",
              width: "15rem",
              right: true,
              render: (row) => (
                <span className="row-actions">
                  <button type="button" onClick={() => run.mutate(row)}>
                    Run now
                  </button>
                  <button type="button" onClick={() => toggle.mutate(row)}>
                    {row.enabled ? "Switch off" : "Switch on"}
                  </button>
                </span>
              ),
            },
          ]
        : COLUMNS,
    [may],
  );
  return (
    <Page title="Schedules" lead="Tasks that are enqueued at set times." back={{ to: "/workers", text: "Workers" }}>
      <ErrorBox error={run.error ?? toggle.error} />
      <ActingList
        label="Schedules"
        path="/v1/schedules"
        options={{ live: ["schedules", "tasks"] }}
        fields={FIELDS}
        page="schedules"
        placeholder="Filter by name or state:"
        columns={columns}
        rowKey={(row) => row.schedule_name}
        actions={may ? ACTIONS : []}
        empty={<EmptyState title="No schedule yet">A schedule is declared beside a task type and appears when its worker starts.</EmptyState>}
      />
    </Page>
  );
}
