/** What rules and the classifier did not keep, and why; one click takes an item in after all. */

import { useMemo } from "react";
import { post, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { A } from "../../app/address";
import { useMay } from "../../app/session";
import type { Field, Query } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState, ErrorBox } from "../../ui/notices";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";

type Decision = Schemas["Decision"];

const FIELDS: readonly Field[] = [
  { name: "reason", label: "reason", single: true, plain: true },
  { name: "name", label: "rule", single: true, plain: true },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "decisions.restore", verb: "Restore", noun: "item", about: "They are ingested after all; each counts against the rule that was wrong." },
];

export function Skipped({ sourceId }: { sourceId: string | null }) {
  const path = sourceId === null ? "/v1/decisions" : `/v1/sources/${sourceId}/decisions`;
  const live = ["decisions", "documents", "sources", ...(sourceId === null ? [] : [`source:${sourceId}`])];
  const source = useMemo((): Query => (sourceId === null ? {} : { source_id: sourceId }), [sourceId]);
  const may = useMay("operate");
  const restore = useAction((decision: Decision) => post(`/v1/decisions/${decision.decision_id}/restore`), live, () =>
    toast("Restored. The rule’s count of reversals went up by one."),
  );
  const columns = useMemo((): Column<Decision>[] => [
    { key: "what", label: "What", width: "minmax(12rem, 2fr)", render: (row) => <Name>{row.filename ?? row.subject ?? row.external_id ?? "untitled"}</Name> },
    {
      key: "from",
      label: "From",
      width: "minmax(9rem, 1.5fr)",
      render: (row) => (row.sender ? <Name>{row.subject && row.filename ? `${row.sender}: ${row.subject}` : row.sender}</Name> : <span className="zero">–</span>),
    },
    {
      key: "why",
      label: "Why",
      width: "minmax(10rem, 1.5fr)",
      render: (row) => (
        <span title={row.reasons.map((reason) => Object.values(reason).join(" ")).join("\n")}>
          {row.skip_reason.replaceAll("_", " ")}{" "}
          <span className="quiet">
            {row.stage === 1 ? "rule" : "class"} {row.name}
          </span>
        </span>
      ),
    },
    ...(sourceId === null
      ? [{ key: "source", label: "Source", width: "minmax(6rem, 1fr)", wideOnly: true, render: (row: Decision) => (row.source_id ? <A to={`/sources/${row.source_id}`}>{row.source ?? "source"}</A> : <span className="quiet">upload</span>) }]
      : []),
    { key: "at", label: "Decided", width: "6.5rem", right: true, render: (row) => <Time at={row.decided_at} /> },
    {
      key: "state",
      label: "",
      width: "8rem",
      right: true,
      render: (row) =>
        row.state === "skipped" || row.state === "not_restored" ? (
          may ? (
            <button type="button" aria-label={`Restore ${row.filename ?? row.subject ?? "it"}`} disabled={restore.isPending} onClick={() => restore.mutate(row)}>
              Restore
            </button>
          ) : (
            <StateBadge state={row.state === "skipped" ? "skipped" : "failed"} word={row.state.replaceAll("_", " ")} />
          )
        ) : row.document_id ? (
          <A to={`/documents/${row.document_id}`}>{row.state}</A>
        ) : (
          <StateBadge state={row.state === "restored" ? "done" : "running"} word={row.state} />
        ),
    },
  ], [may, sourceId]);
  return (
    <>
      <ErrorBox error={restore.error} />
      <ActingList
        label="What was skipped"
        path={path}
        options={{ query: { limit: 100 }, live }}
        fields={FIELDS}
        also={source}
        page="skipped"
        placeholder="Filter by reason: or rule:"
        actions={may ? ACTIONS : []}
        columns={columns}
        rowKey={(row) => row.decision_id}
        empty={
          <EmptyState title="Nothing was skipped">
            <p>Emails and attachments that the rules or the classifier leave out are listed here, each with its reason.</p>
          </EmptyState>
        }
      />
    </>
  );
}
