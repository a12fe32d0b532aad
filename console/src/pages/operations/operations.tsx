/** Bulk operations: those that run, and the receipts of those that ended. */

import { useMay } from "../../app/session";
import { compact, count } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState } from "../../ui/notices";
import { actionName, type Operation } from "../../ui/operation";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Count, Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";
import { Reindexes } from "./reindexes";

const FIELDS: readonly Field[] = [{ name: "state", label: "state", options: ["running", "watching", "done", "stopped", "failed"], plain: true }];

const COLUMNS: readonly Column<Operation>[] = [
  { key: "action", label: "Operation", width: "minmax(12rem, 1.5fr)", render: (row) => actionName(row.action) },
  { key: "state", label: "State", width: "8rem", render: (row) => <StateBadge state={row.state} /> },
  { key: "done", label: "Done", width: "9rem", right: true, render: (row) => <span title={`${count(row.done)} of ${count(row.total)}`}>{`${compact(row.done)} of ${compact(row.total)}`}</span> },
  { key: "skipped", label: "Skipped", width: "6rem", right: true, render: (row) => <Count n={row.skipped} /> },
  { key: "failed", label: "Failed", width: "6rem", right: true, render: (row) => <Count n={row.failed} tone="bad" /> },
  { key: "by", label: "By", width: "minmax(8rem, 1fr)", render: (row) => <Name>{row.by}</Name> },
  { key: "started", label: "Started", width: "7rem", right: true, render: (row) => <Time at={row.started_at} /> },
  { key: "finished", label: "Ended", width: "7rem", right: true, wideOnly: true, render: (row) => <Time at={row.finished_at} /> },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "operations.cancel", verb: "Cancel", noun: "operation", danger: true, about: "What they have not reached yet stays as it is." },
];

export default function OperationsPage() {
  const may = useMay("operate");
  return (
    <Page title="Operations" lead="Bulk actions: their progress, what they skipped, and who started them.">
      <Reindexes />
      <ActingList
        label="Operations"
        path="/v1/operations"
        options={{ query: { limit: 50 }, live: ["operations"] }}
        fields={FIELDS}
        page="operations"
        placeholder="Filter by state:"
        columns={COLUMNS}
        rowKey={(row) => row.operation_id}
        rowHref={(row) => `/operations/${row.operation_id}`}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No operations yet">
            Select documents, tasks or a group of failures and act on all of them: the operation appears here.
          </EmptyState>
        }
      />
    </Page>
  );
}
