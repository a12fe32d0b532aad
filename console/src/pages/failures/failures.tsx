/** Failures: dead letters and failed documents, grouped by cause. */

import { useMemo, useState } from "react";
import { useApi } from "../../api/queries";
import type { FailureGroup, TaskType } from "../../api/operate";
import { A, usePageQuery } from "../../app/address";
import { useMay, useSession, useTenant } from "../../app/session";
import { count, fitting, plural } from "../../lib/numbers";
import { writeQuery, type Field } from "../../lib/filters";
import { sortedBy } from "../../lib/sorting";
import { BulkDialog, type BulkAction } from "../../ui/bulk-bar";
import { Sparkline } from "../../ui/chart";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { Answer, EmptyState } from "../../ui/notices";
import { OperationCard } from "../../ui/operation";
import { Page } from "../../ui/page";
import { SortSelect, useOrder } from "../../ui/sort-select";
import { says, withoutCode } from "../documents/reason";
import { Time } from "../../ui/values";
import { PURGE, REPLAY, RETRY } from "./actions";

export default function FailuresPage() {
  const types = useApi<{ items: TaskType[] }>("/v1/task-types");
  const [query, change] = usePageQuery();
  const fields = useMemo(
    (): Field[] => [
      { name: "kind", label: "kind", options: [{ value: "task", label: "dead letters" }, { value: "document", label: "documents" }], single: true, plain: true },
      { name: "task_type", label: "type", options: (types.data?.items ?? []).map((type) => type.task_type), single: true, plain: true },
      { name: "q", label: "text", text: true },
    ],
    [types.data],
  );
  const filter = useFilter(fields);
  const found = useApi<{ items: FailureGroup[]; truncated: boolean; partial: boolean }>("/v1/failures", { query: filter, live: ["dead", "documents"] });
  const kind = query["kind"] ?? "";
  const started = query["operation"];
  const order = useOrder(ORDERS);
  return (
    <Page title="Failures" lead="Failures grouped by cause. Open a group to see why, fix it, and replay the group.">
      <nav className="states" aria-label="Kinds">
        {(
          [
            ["", "All"],
            ["document", "Documents"],
            ["task", "Dead letters"],
          ] as const
        ).map(([value, text]) => (
          <A key={value} to={`/failures${writeQuery({ ...filter, kind: value })}`} aria-current={value === kind ? "true" : undefined}>
            {text}
          </A>
        ))}
      </nav>
      <div className="list-bar">
        <FilterBar fields={fields} page="failures" placeholder="Filter by text, kind: or type:" />
        <SortSelect orders={ORDERS} />
      </div>
      {started ? <OperationCard id={started} onDismiss={() => change({ operation: undefined }, { replace: true })} /> : null}
      <Together groups={found.data?.items ?? []} onStarted={(operation) => change({ operation }, { replace: true })} />
      <Answer of={found}>
        {({ items, truncated, partial }) =>
          items.length === 0 ? (
            <EmptyState title={Object.keys(filter).length ? "No failure matches" : "Nothing failed"}>
              {Object.keys(filter).length ? "Remove part of the filter to see more." : "Documents that fail and tasks that run out of attempts appear here, grouped by cause."}
            </EmptyState>
          ) : (
            <>
              <ul className="groups" aria-label="Failure groups">
                {inOrder(items, order).map((group) => (
                  <Group key={group.group_id} group={group} />
                ))}
              </ul>
              <p className="vtable-foot">
                {truncated ? "the newest " : ""}
                {plural(items.length, "cause")}
                {partial ? " of more than 5,000; newer ones may be missing" : truncated ? " of more" : ""}
              </p>
            </>
          )
        }
      </Answer>
    </Page>
  );
}

const ORDERS = [
  ["latest", "Latest first"],
  ["most", "Most first"],
  ["oldest", "Longest known first"],
] as const;

function inOrder(groups: readonly FailureGroup[], order: string): readonly FailureGroup[] {
  if (order === "most") return sortedBy(groups, (group) => group.count, true);
  return order === "oldest" ? sortedBy(groups, (group) => Date.parse(group.first_at), false) : groups;
}

/** Acts on everything that failed by the causes shown, whichever page they are on. */
function Together({ groups, onStarted }: { groups: readonly FailureGroup[]; onStarted: (operation: string) => void }) {
  const may = useMay("operate");
  const session = useSession();
  const [tenant] = useTenant();
  const [asked, setAsked] = useState<{ action: BulkAction; groups: readonly FailureGroup[] } | null>(null);
  const ofAll = Boolean(session?.is_installation) && tenant === null;
  const tasks = groups.filter((group) => group.kind === "task");
  const documents = ofAll ? [] : groups.filter((group) => group.kind === "document");
  if (!may || (tasks.length === 0 && documents.length === 0)) {
    return null;
  }
  const button = (action: BulkAction, those: readonly FailureGroup[]) =>
    those.length === 0 ? null : (
      <button type="button" className={action.danger ? "danger" : undefined} onClick={() => setAsked({ action, groups: those })}>
        {named(action, those)} …
      </button>
    );
  return (
    <div className="actions" role="group" aria-label="All causes shown">
      {button(REPLAY, tasks)}
      {button(RETRY, documents)}
      {button(PURGE, tasks)}
      {asked ? (
        <BulkDialog
          action={asked.action}
          filter={{ fingerprint: asked.groups.map((group) => group.fingerprint).join(","), ...(asked.action === RETRY ? { status: "failed" } : {}) }}
          changes={["dead", "documents"]}
          onClose={() => setAsked(null)}
          onStarted={(operation) => {
            setAsked(null);
            onStarted(operation.operation_id);
          }}
        />
      ) : null}
    </div>
  );
}

/** "Retry 1 document", "Replay all ≈ 1,204 dead letters". */
function named(action: BulkAction, groups: readonly FailureGroup[]): string {
  const n = groups.reduce((sum, group) => sum + group.count, 0);
  const about = groups.some((group) => group.approximate);
  return n === 1 ? `${action.verb} 1 ${action.noun}` : `${action.verb} all ${count(n, about)} ${action.noun}s`;
}

function Group({ group }: { group: FailureGroup }) {
  const recent = group.history.reduce((sum, n) => sum + n, 0);
  return (
    <li className="group">
      <div className="group-count">
        <b className="tone-text-bad" title={count(group.count, group.approximate)}>{fitting(group.count, group.approximate)}</b>
        <span className="quiet">{group.kind === "task" ? (group.count === 1 ? "dead letter" : "dead letters") : group.count === 1 ? "document" : "documents"}</span>
      </div>
      <div className="group-text">
        <A to={`/failures/${encodeURIComponent(group.group_id)}`} className="strong-link">
          <bdi>{group.title}</bdi>
        </A>
        <p className="group-message" title={group.example_message}>
          <bdi>{withoutCode(group.error_code, group.example_message)}</bdi>
        </p>
        {group.remedy && !says(group.example_message, group.remedy) ? (
          <p className="quiet">
            <bdi>{group.remedy}</bdi>
          </p>
        ) : null}
      </div>
      <div className="group-when">
        <Sparkline values={group.history} tone="bad" label={`${recent} within 24 hours`} />
        <span className="quiet small">
          last <Time at={group.last_at} />, first <Time at={group.first_at} />
        </span>
      </div>
    </li>
  );
}
