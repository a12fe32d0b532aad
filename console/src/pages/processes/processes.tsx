/** Supervised processes: messages, deletions and others that are tried until they succeed or give up. */

import type { ProcessRow } from "../../api/operate";
import { useMay } from "../../app/session";
import { compact } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["open", "succeeded", "failed"], single: true, plain: true },
  { name: "process", label: "process", single: true, plain: true },
];

const COLUMNS: readonly Column<ProcessRow>[] = [
  { key: "process", label: "Process", width: "minmax(14rem, 1.5fr)", sort: (row) => row.id, render: (row) => <Name>{row.id}</Name> },
  { key: "state", label: "State", width: "8rem", sort: (row) => row.state, render: (row) => <StateBadge state={row.state} /> },
  { key: "tenant", label: "Tenant", width: "minmax(6rem, .7fr)", wideOnly: true, render: (row) => (row.tenant ? <Name>{row.tenant}</Name> : <span className="zero">–</span>) },
  { key: "attempts", label: "Attempts", width: "8rem", right: true, sort: (row) => row.attempts, render: (row) => (row.failed_attempts === row.attempts && row.attempts ? `${compact(row.attempts)} failed` : row.failed_attempts ? `${compact(row.attempts)}, ${compact(row.failed_attempts)} failed` : compact(row.attempts)) },
  { key: "message", label: "Last failure", width: "minmax(10rem, 2fr)", render: (row) => (row.error_message ? <Name>{row.error_message}</Name> : <span className="zero">–</span>) },
  { key: "next", label: "Next check", width: "7rem", right: true, wideOnly: true, sort: (row) => row.next_check_at, render: (row) => <Time at={row.next_check_at} /> },
  { key: "created", label: "Started", width: "7rem", right: true, sort: "server", render: (row) => <Time at={row.created_at} /> },
];

/** The page of a process: its id is "name/number". */
export const processHref = (id: string) => `/processes/${id.split("/").map(encodeURIComponent).join("/")}`;

const ACTIONS: readonly BulkAction[] = [
  {
    action: "processes.retry",
    verb: "Start again",
    noun: "process",
    nouns: "processes",
    about: "Each failed process starts again; its earlier failures no longer count.",
    canary: true,
  },
];

export default function ProcessesPage() {
  const may = useMay("operate");
  return (
    <Page title="Processes" lead="Work that is retried until it succeeds or gives up: a message, a deletion, or a process of your own.">
      <ActingList
        label="Processes"
        path="/v1/processes"
        options={{ query: { limit: 100 }, live: ["processes"] }}
        fields={FIELDS}
        page="processes"
        placeholder="Filter by state: or process:"
        columns={COLUMNS}
        rowKey={(row) => row.id}
        rowHref={(row) => processHref(row.id)}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No processes yet" command="penstock new process my_process">
            Sending an email starts one. To write your own, start from the template:
          </EmptyState>
        }
      />
    </Page>
  );
}
