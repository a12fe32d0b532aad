/** Bulk operations: those that run, and the receipts of those that ended. */

import { useRows } from "../../api/queries";
import { count } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState } from "../../ui/notices";
import { actionName, type Operation } from "../../ui/operation";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";

const FIELDS: readonly Field[] = [{ name: "state", label: "state", options: ["running", "watching", "done", "stopped", "failed"], plain: true }];

const COLUMNS: readonly Column<Operation>[] = [
  { key: "action", label: "Operation", width: "minmax(12rem, 1.5fr)", render: (row) => actionName(row.action) },
  { key: "state", label: "State", width: "8rem", render: (row) => <StateBadge state={row.state} /> },
  { key: "done", label: "Done", width: "9rem", right: true, render: (row) => `${count(row.done)} of ${count(row.total)}` },
  { key: "skipped", label: "Skipped", width: "6rem", right: true, render: (row) => <span className={row.skipped ? "" : "zero"}>{count(row.skipped)}</span> },
  { key: "failed", label: "Failed", width: "6rem", right: true, render: (row) => <span className={row.failed ? "tone-text-bad" : "zero"}>{count(row.failed)}</span> },
  { key: "by", label: "By", width: "minmax(8rem, 1fr)", render: (row) => <Name>{row.by}</Name> },
  { key: "started", label: "Started", width: "7rem", right: true, render: (row) => <Time at={row.started_at} /> },
  { key: "finished", label: "Ended", width: "7rem", right: true, wideOnly: true, render: (row) => <Time at={row.finished_at} /> },
];

export default function OperationsPage() {
  const filter = useFilter(FIELDS);
  const list = useRows<Operation>("/v1/operations", (row) => row.operation_id, { query: { ...filter, limit: 50 }, live: ["operations"] });
  return (
    <Page title="Operations" lead="What was done to everything that matched a filter: how far it is, what it skipped, and who started it.">
      <FilterBar fields={FIELDS} page="operations" placeholder="Filter by state:" />
      <VirtualTable
        label="Operations"
        list={list}
        columns={COLUMNS}
        rowKey={(row) => row.operation_id}
        rowHref={(row) => `/operations/${row.operation_id}`}
        empty={
          <EmptyState title={Object.keys(filter).length ? "No operation matches" : "No operation yet"}>
            Choose documents, tasks or a group of failures, and act on all of them: the operation will be here.
          </EmptyState>
        }
      />
    </Page>
  );
}
