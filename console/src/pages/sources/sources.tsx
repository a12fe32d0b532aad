/** Sources: one honest sentence each, last success, next run, counts; connect another one. */

import { useMemo } from "react";
import { type Reply, type Schemas } from "../../api/client";
import { useApi, useRows } from "../../api/queries";
import { A } from "../../app/address";
import { useMay } from "../../app/session";
import { compact, count, plural } from "../../lib/numbers";
import type { Field } from "../../lib/filters";
import { has, NONE, toggled } from "../../lib/selection";
import { sortedBy } from "../../lib/sorting";
import { BulkBar, type BulkAction } from "../../ui/bulk-bar";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState, ErrorBox, Loading } from "../../ui/notices";
import { Page } from "../../ui/page";
import { SortSelect, useOrder } from "../../ui/sort-select";
import { StateBadge } from "../../ui/state";
import { useSelection } from "../../ui/use-selection";
import { Name, Time, useNow } from "../../ui/values";
import { SourceActions } from "./actions";
import { NextRun } from "./next-run";
import { needsReconnect, sentence } from "./sentence";
import { healthState, kindName } from "./words";

type Source = Schemas["ListedSource"];

const ACTIONS: readonly BulkAction[] = [
  { action: "sources.sync", verb: "Sync", noun: "source", about: "Each is read for changes now.", canary: true },
  { action: "sources.pause", verb: "Pause", noun: "source", about: "They are not read and accept no deliveries until they are resumed." },
  { action: "sources.resume", verb: "Resume", noun: "source", about: "They are read at once, and accept deliveries again." },
];

export default function Sources() {
  const may = useMay("admin");
  const operates = useMay("operate");
  const kinds = useApi<Reply<"/v1/source-kinds">>("/v1/source-kinds").data?.items;
  const fields = useMemo(
    (): Field[] => [
      { name: "kind", label: "kind", options: (kinds ?? []).map((each) => ({ value: each.kind, label: kindName(each.kind) })) },
      { name: "state", label: "health", options: URGENCY.map((state) => ({ value: state, label: healthState(state).word ?? state })) },
      { name: "q", label: "name", text: true },
    ],
    [kinds],
  );
  const filter = useFilter(fields);
  const [selection, select] = useSelection();
  const order = useOrder(ORDERS);
  const list = useRows<Source>("/v1/sources", (source) => source.source_id, { query: filter, live: ["sources"] });
  const ids = list.rows.map((source) => source.source_id);
  return (
    <Page
      title="Sources"
      lead="Where documents come from, and the health of each source."
      actions={
        <>
          <A to="/sources/skipped" className="button">
            What was skipped
          </A>
          {may ? (
            <A to="/sources/connect" className="button primary">
              Connect a source
            </A>
          ) : null}
        </>
      }
    >
      <div className="list-bar">
        <FilterBar fields={fields} page="sources" placeholder="Filter by name, kind: or health:" />
        <SortSelect orders={ORDERS} />
      </div>
      <ErrorBox error={list.error} retry={list.refetch} />
      {list.isPending && !list.error ? <Loading /> : null}
      {!list.isPending && ids.length === 0 && !list.error ? (
        Object.keys(filter).length ? (
          <EmptyState title="No source matches">Remove part of the filter to see more.</EmptyState>
        ) : (
          <EmptyState title="No source is connected" command="penstock source connect hubspot">
            <p>Connect a mailbox, a drive or a CRM, and its documents arrive by themselves. To try this without an account, run the simulated providers: penstock simulate.</p>
            {may ? (
              <p>
                <A to="/sources/connect" className="button primary">
                  Connect a source
                </A>
              </p>
            ) : null}
          </EmptyState>
        )
      ) : null}
      {operates && ids.length > 1 ? (
        <label className="select-all">
          <input
            type="checkbox"
            checked={ids.every((id) => has(selection, id))}
            onChange={(event) => select(event.target.checked ? { all: true } : NONE)}
          />
          Select all {count(ids.length)} that match
        </label>
      ) : null}
      <ul className="cards">
        {inOrder(list.rows, order).map((source) => (
          <SourceCard
            key={source.source_id}
            source={source}
            {...(operates ? { chosen: has(selection, source.source_id), onChoose: () => select(toggled(selection, source.source_id, ids)) } : {})}
          />
        ))}
      </ul>
      {operates ? (
        <BulkBar actions={ACTIONS} filter={filter} selection={selection} onSelect={select} total={list.total} loaded={ids.length} changes={["sources"]} />
      ) : null}
    </Page>
  );
}

const URGENCY = ["needs_you", "retrying", "degraded", "syncing", "never_synced", "healthy", "receiving", "paused"];

const ORDERS = [
  ["need", "Those that need you first"],
  ["name", "By name"],
  ["documents", "Most documents first"],
  ["success", "Longest without success first"],
] as const;

function inOrder(sources: readonly Source[], order: string): Source[] {
  const named = sortedBy(sources, (source) => source.name, false);
  if (order === "name") return named;
  if (order === "documents") return sortedBy(named, (source) => source.documents, true);
  if (order === "success") return sortedBy(named, (source) => (source.synced_at ? Date.parse(source.synced_at) : 0), false);
  return sortedBy(named, (source) => URGENCY.indexOf(source.health.state), false);
}

function SourceCard({ source, chosen, onChoose }: { source: Source; chosen?: boolean; onChoose?: () => void }) {
  const now = useNow();
  const job = source.last_job;
  return (
    <li className={`card${needsReconnect(source) ? " bad" : ""}`}>
      <header>
        <div>
          <h2>
            <A to={`/sources/${source.source_id}`}>
              <Name>{source.name}</Name>
            </A>
          </h2>
          <p className="quiet small">
            {kindName(source.kind)} · to project <bdi>{source.project}</bdi>
          </p>
        </div>
        <span className="card-state">
          <StateBadge {...healthState(source.health.state)} />
          {onChoose ? <input type="checkbox" aria-label={`Select ${source.name}`} checked={chosen ?? false} onChange={onChoose} /> : null}
        </span>
      </header>
      <p className="health-sentence">
        <bdi>{sentence(source, now)}</bdi>
      </p>
      <dl className="card-facts">
        <div>
          <dt>Documents</dt>
          <dd>
            <A to={`/documents?source_id=${source.source_id}`} title={count(source.documents)}>
              {compact(source.documents)}
            </A>
          </dd>
        </div>
        <div>
          <dt>Last success</dt>
          <dd>
            <Time at={source.synced_at} />
          </dd>
        </div>
        <div>
          <dt>Next run</dt>
          <dd>
            <NextRun source={source} />
          </dd>
        </div>
        <div>
          <dt>Last sync</dt>
          <dd>{job ? `${plural(job.items_written, "item")} written${job.items_failed ? `, ${count(job.items_failed)} failed` : ""}` : "–"}</dd>
        </div>
      </dl>
      <SourceActions source={source} documents={source.documents} />
    </li>
  );
}
