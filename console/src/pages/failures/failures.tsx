/** Failures: dead letters and failed documents, grouped by cause. */

import { useMemo } from "react";
import { useApi } from "../../api/queries";
import type { FailureGroup, TaskType } from "../../api/operate";
import { A, usePageQuery } from "../../app/address";
import { count, plural } from "../../lib/numbers";
import { writeQuery, type Field } from "../../lib/filters";
import { Sparkline } from "../../ui/chart";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { Answer, EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { Time } from "../../ui/values";

export default function FailuresPage() {
  const types = useApi<{ items: TaskType[] }>("/v1/task-types");
  const [query] = usePageQuery();
  const fields = useMemo(
    (): Field[] => [
      { name: "kind", label: "kind", options: [{ value: "task", label: "dead letters" }, { value: "document", label: "documents" }], single: true, plain: true },
      { name: "task_type", label: "type", options: (types.data?.items ?? []).map((type) => type.task_type), single: true, plain: true },
      { name: "q", label: "text", text: true },
    ],
    [types.data],
  );
  const filter = useFilter(fields);
  const found = useApi<{ items: FailureGroup[] }>("/v1/failures", { query: filter, live: ["dead", "documents"], everySeconds: 60 });
  const kind = query["kind"] ?? "";
  return (
    <Page title="Failures" lead="The same error is one row, however often it happened. Open it to see why, fix the cause, and replay them together.">
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
      <FilterBar fields={fields} page="failures" placeholder="Filter by text, kind: or task_type:" />
      <Answer of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={Object.keys(filter).length ? "No failure matches" : "Nothing failed"}>
              {Object.keys(filter).length ? "Remove a part of the filter to see the others." : "Documents that fail and tasks that run out of attempts will be here, with their cause."}
            </EmptyState>
          ) : (
            <>
              <ul className="groups" aria-label="Failure groups">
                {items.map((group) => (
                  <Group key={group.group_id} group={group} />
                ))}
              </ul>
              <p className="vtable-foot">{plural(items.length, "cause")}</p>
            </>
          )
        }
      </Answer>
    </Page>
  );
}

/** Whether the message has the remedy in it already. */
export function says(message: string, remedy: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[.\s]+/g, " ").trim();
  return plain(message).includes(plain(remedy));
}

function Group({ group }: { group: FailureGroup }) {
  const recent = group.history.reduce((sum, n) => sum + n, 0);
  return (
    <li className="group">
      <div className="group-count">
        <b className="tone-text-bad">{count(group.count, group.approximate)}</b>
        <span className="quiet">{group.kind === "task" ? (group.count === 1 ? "dead letter" : "dead letters") : group.count === 1 ? "document" : "documents"}</span>
      </div>
      <div className="group-text">
        <A to={`/failures/${encodeURIComponent(group.group_id)}`} className="strong-link">
          <bdi>{group.title}</bdi>
        </A>
        <p className="group-message" title={group.example_message}>
          <bdi>{group.example_message}</bdi>
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
