/** Other people's queues that are read into ours: what each received, took in, found again and refused. */

import { useMemo } from "react";
import { post, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { useMayRun } from "../../app/session";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState, ErrorBox } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Brief, Count, Name } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";

export type Inlet = Schemas["InletFigures"];

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["running", "waiting", "failing", "paused"] },
  { name: "q", label: "name", text: true },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "inlets.pause", verb: "Pause", noun: "inlet", about: "Their messages stay with their senders until they are resumed." },
  { action: "inlets.resume", verb: "Resume", noun: "inlet", about: "Their messages are taken in again." },
];

export function stateOf(inlet: Inlet): string {
  if (!inlet.enabled) return "paused";
  if (inlet.error) return "failing";
  return inlet.holder ? "running" : "waiting";
}

export function useSwitch() {
  return useAction((inlet: Inlet) => post(`/v1/inlets/${encodeURIComponent(inlet.name)}/${inlet.enabled ? "pause" : "resume"}`), ["inlets"]);
}

const COLUMNS: readonly Column<Inlet>[] = [
  { key: "inlet", label: "Inlet", width: "minmax(9rem, 2fr)", sort: (inlet) => inlet.name, render: (inlet) => <Name>{inlet.name}</Name> },
  { key: "state", label: "State", width: "7rem", sort: stateOf, render: (inlet) => <StateBadge state={stateOf(inlet)} title={inlet.error ?? undefined} /> },
  ...(["received", "taken", "duplicates", "refused", "backlog"] as const).map(
    (key): Column<Inlet> => ({
      key,
      label: key === "backlog" ? "Waiting" : key.charAt(0).toUpperCase() + key.slice(1),
      width: "5.6rem",
      right: true,
      sort: (inlet) => inlet[key],
      render: (inlet) => (inlet[key] === null ? <span className="zero none">–</span> : <Count n={inlet[key]} tone={key === "refused" ? "bad" : undefined} />),
    }),
  ),
  { key: "lag", label: "Lag", width: "4.5rem", right: true, sort: (inlet) => inlet.lag_seconds, render: (inlet) => <Brief seconds={inlet.lag_seconds} /> },
  { key: "holder", label: "Read by", width: "minmax(7rem, 1fr)", render: (inlet) => (inlet.holder ? <Name>{inlet.holder}</Name> : <span className="zero none">–</span>) },
];

export default function InletsPage() {
  const may = useMayRun();
  const toggle = useSwitch();
  const columns = useMemo(
    (): readonly Column<Inlet>[] =>
      may
        ? [
            ...COLUMNS,
            {
              key: "act",
              label: "",
              width: "6rem",
              right: true,
              render: (inlet) => (
                <button type="button" aria-label={`${inlet.enabled ? "Pause" : "Resume"} ${inlet.name}`} onClick={() => toggle.mutate(inlet)}>
                  {inlet.enabled ? "Pause" : "Resume"}
                </button>
              ),
            },
          ]
        : COLUMNS,
    [may],
  );
  return (
    <Page title="Inlets" lead="Queues of other systems. Each of their messages becomes exactly one task here.">
      <ErrorBox error={toggle.error} />
      <ActingList
        label="Inlets"
        path="/v1/inlets"
        options={{ live: ["inlets"] }}
        fields={FIELDS}
        page="inlets"
        placeholder="Filter by name or state:"
        columns={columns}
        rowKey={(inlet) => inlet.name}
        rowHref={(inlet) => `/inlets/${encodeURIComponent(inlet.name)}`}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No inlets yet" command="penstock inlet add --help">
            An inlet reads a queue of pgmq, SQS or BullMQ.
          </EmptyState>
        }
      />
    </Page>
  );
}
