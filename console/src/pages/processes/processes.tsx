/** Supervised processes: messages, deletions and others that are tried until they succeed or give up. */

import { useRows } from "../../api/queries";
import type { ProcessRow } from "../../api/operate";
import type { Field } from "../../lib/filters";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["open", "succeeded", "failed"], single: true, plain: true },
  { name: "process", label: "process", single: true, plain: true },
];

const COLUMNS: readonly Column<ProcessRow>[] = [
  { key: "process", label: "Process", width: "minmax(14rem, 1.5fr)", render: (row) => <Name>{row.id}</Name> },
  { key: "state", label: "State", width: "8rem", render: (row) => <StateBadge state={row.state} /> },
  { key: "tenant", label: "Tenant", width: "minmax(6rem, .7fr)", wideOnly: true, render: (row) => (row.tenant ? <Name>{row.tenant}</Name> : <span className="zero">–</span>) },
  { key: "attempts", label: "Attempts", width: "7rem", right: true, render: (row) => (row.failed_attempts ? `${row.attempts}, ${row.failed_attempts} failed` : row.attempts) },
  { key: "message", label: "Last failure", width: "minmax(10rem, 2fr)", render: (row) => (row.error_message ? <Name>{row.error_message}</Name> : <span className="zero">–</span>) },
  { key: "next", label: "Next check", width: "7rem", right: true, wideOnly: true, render: (row) => <Time at={row.next_check_at} /> },
  { key: "created", label: "Started", width: "7rem", right: true, render: (row) => <Time at={row.created_at} /> },
];

/** The page of a process: its id is "name/number". */
export const processHref = (id: string) => `/processes/${id.split("/").map(encodeURIComponent).join("/")}`;

export default function ProcessesPage() {
  const filter = useFilter(FIELDS);
  const list = useRows<ProcessRow>("/v1/processes", (row) => row.id, { query: { ...filter, limit: 100 }, live: ["processes"], everySeconds: 30 });
  return (
    <Page title="Processes" lead="A process is tried until it succeeds or gives up: a message, a deletion, a function of yours.">
      <FilterBar fields={FIELDS} page="processes" placeholder="Filter by state: or process:" />
      <VirtualTable
        label="Processes"
        list={list}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        rowHref={(row) => processHref(row.id)}
        empty={
          Object.keys(filter).length ? (
            <EmptyState title="No process matches">Remove a part of the filter to see the others.</EmptyState>
          ) : (
            <EmptyState title="No process yet" command="penstock new process my_process">
              Sending an email starts one; a process of your own is made from a template.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
