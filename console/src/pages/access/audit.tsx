/** Who did what, and when: every action leaves a row. */

import { useRows } from "../../api/queries";
import { useSession, useTenant } from "../../app/session";
import type { Field } from "../../lib/filters";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState } from "../../ui/notices";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { AccessPage } from "./tabs";
import { said } from "./audit-words";

interface AuditRow {
  readonly audit_id: string;
  readonly at: string;
  readonly who: string;
  readonly role: string;
  readonly via: "key" | "session";
  readonly tenant: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly status: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly request_id: string;
}

const OF_TENANT: readonly Field[] = [
  { name: "who", label: "who", single: true, plain: true },
  { name: "action", label: "action", text: true },
];
const OF_ALL: readonly Field[] = [...OF_TENANT, { name: "tenant", label: "tenant", single: true, plain: true }];

export default function Audit() {
  return (
    <AccessPage title="Audit" lead="Who did what, and when. The row is written before the action, so a crash cannot hide it.">
      <AuditList />
    </AccessPage>
  );
}

function AuditList() {
  const session = useSession();
  const [tenant] = useTenant();
  const ofAll = Boolean(session?.is_installation && tenant === null);
  const fields = ofAll ? OF_ALL : OF_TENANT;
  const filter = useFilter(fields);
  const list = useRows<AuditRow>("/v1/audit", (row) => row.audit_id, { query: { ...filter, limit: 100 }, live: ["audit"] });
  const columns: Column<AuditRow>[] = [
    { key: "what", label: "What", width: "minmax(14rem, 2fr)", render: (row) => <span title={row.action}>{said(row.action)}</span> },
    { key: "target", label: "On", width: "minmax(8rem, 1.5fr)", render: (row) => (row.target ? <Name mono>{row.target}</Name> : <span className="zero">–</span>) },
    {
      key: "who",
      label: "Who",
      width: "minmax(8rem, 1fr)",
      render: (row) => (
        <Name>{`${row.who} (${row.role}${row.via === "key" ? ", by key" : ""})`}</Name>
      ),
    },
    ...(ofAll ? [{ key: "tenant", label: "Tenant", width: "minmax(5rem, 1fr)", render: (row: AuditRow) => (row.tenant ? <Name>{row.tenant}</Name> : <span className="quiet">installation</span>) }] : []),
    {
      key: "status",
      label: "Outcome",
      width: "8rem",
      render: (row) =>
        row.status === null ? (
          <StateBadge state="lost" word="unknown" title="The server stopped before it could record the outcome" />
        ) : row.status < 400 ? (
          <StateBadge state="done" word="done" title={`HTTP ${row.status}`} />
        ) : (
          <StateBadge state="failed" word={row.status === 403 ? "refused" : `failed ${row.status}`} title={`HTTP ${row.status}`} />
        ),
    },
    { key: "at", label: "When", width: "6.5rem", right: true, render: (row) => <Time at={row.at} /> },
  ];
  return (
    <>
      <FilterBar fields={fields} page="audit" placeholder="Filter by action or who:" />
      <VirtualTable
        label="Audit"
        list={list}
        columns={columns}
        rowKey={(row) => row.audit_id}
        empty={
          Object.keys(filter).length ? (
            <EmptyState title="No action matches">Remove part of the filter to see more.</EmptyState>
          ) : (
            <EmptyState title="No actions yet">
              <p>Pausing a queue, deleting a document, creating a key: everything a person or a program does is listed here.</p>
            </EmptyState>
          )
        }
      />
    </>
  );
}
