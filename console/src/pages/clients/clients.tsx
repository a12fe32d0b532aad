/** Clients: what the connected sources state about each, merged. */

import { useEffect, useState } from "react";
import { post, type Schemas } from "../../api/client";
import { useAction, useRows } from "../../api/queries";
import { useGo, usePageQuery } from "../../app/address";
import { useMay } from "../../app/session";
import { useShortcuts } from "../../app/shortcuts";
import { count } from "../../lib/numbers";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { kindName } from "../sources/words";
import { ClientForm } from "./client-form";

type Client = Schemas["ClientRow"];

const COLUMNS: Column<Client>[] = [
  { key: "name", label: "Client", width: "minmax(14rem, 3fr)", render: (row) => <Name>{row.name}</Name> },
  { key: "industry", label: "Industry", width: "minmax(8rem, 1fr)", render: (row) => (row.industry ? <Name>{row.industry}</Name> : <span className="zero">–</span>) },
  { key: "sources", label: "Known from", width: "minmax(10rem, 1.5fr)", render: (row) => row.sources.map((kind) => (kind === "manual" ? "by hand" : kindName(kind))).join(", ") },
  { key: "records", label: "Records", width: "5rem", right: true, render: (row) => count(row.record_count) },
  { key: "at", label: "Changed", width: "6.5rem", right: true, render: (row) => <Time at={row.updated_at} /> },
];

export default function Clients() {
  const [query, change] = usePageQuery();
  const [typed, setTyped] = useState(query["query"] ?? "");
  const [adding, setAdding] = useState(false);
  const go = useGo();
  const may = useMay("documents:write");
  const list = useRows<Client>("/v1/clients", (row) => row.client_id, {
    query: { ...(query["query"] ? { query: query["query"] } : {}), limit: 100 },
    live: ["clients"],
  });
  const add = useAction(
    (body: Record<string, unknown>) => post<{ client_id: string }>("/v1/clients", body),
    ["clients"],
    (made) => {
      toast("The client was added.");
      go(`/clients/${made.client_id}`);
    },
  );
  useShortcuts({ "/": () => document.querySelector<HTMLInputElement>("#client-search")?.focus() });
  useEffect(() => {
    const timer = setTimeout(() => {
      if ((query["query"] ?? "") !== typed.trim()) change({ query: typed.trim() || undefined }, { replace: true });
    }, 300);
    return () => clearTimeout(timer);
  }, [typed, query, change]);
  return (
    <Page
      title="Clients"
      lead="One picture of each client, from everything that is known about it."
      actions={
        may ? (
          <button type="button" onClick={() => setAdding(true)}>
            Add a client …
          </button>
        ) : null
      }
    >
      <input id="client-search" type="search" className="list-search" value={typed} aria-label="Find a client" placeholder="Find a client by name" onChange={(event) => setTyped(event.target.value)} />
      <VirtualTable
        label="Clients"
        list={list}
        columns={COLUMNS}
        rowKey={(row) => row.client_id}
        rowHref={(row) => `/clients/${row.client_id}`}
        empty={
          query["query"] ? (
            <EmptyState title="No client has this name" />
          ) : (
            <EmptyState title="No clients yet" command="penstock source connect hubspot">
              <p>Sources such as HubSpot and QuickBooks state facts about clients. You can also write down a client by hand.</p>
            </EmptyState>
          )
        }
      />
      {adding ? <ClientForm title="Add a client" verb="Add the client" busy={add.isPending} error={add.error} onClose={() => setAdding(false)} onSave={(body) => add.mutate(body)} /> : null}
    </Page>
  );
}
