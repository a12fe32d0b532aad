/** Clients: what the connected sources state about each, merged. */

import { useState } from "react";
import { post, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { useGo } from "../../app/address";
import { useMay } from "../../app/session";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { toast } from "../../ui/toast";
import { Count, Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";
import { kindName } from "../sources/words";
import { ClientForm } from "./client-form";
import { choiceWords } from "./facts";

type Client = Schemas["ClientRow"];

const COLUMNS: Column<Client>[] = [
  { key: "name", label: "Client", width: "minmax(14rem, 3fr)", sort: "server", render: (row) => <Name>{row.name}</Name> },
  { key: "industry", label: "Industry", width: "minmax(8rem, 1fr)", sort: (row) => row.industry, render: (row) => (row.industry ? <Name>{choiceWords(row.industry)}</Name> : <span className="zero">–</span>) },
  { key: "sources", label: "Known from", width: "minmax(10rem, 1.5fr)", render: (row) => row.sources.map((kind) => (kind === "manual" ? "by hand" : kindName(kind))).join(", ") },
  { key: "records", label: "Records", width: "5rem", right: true, sort: (row) => row.record_count, render: (row) => <Count n={row.record_count} /> },
  { key: "updated", label: "Changed", width: "6.5rem", right: true, sort: "server", render: (row) => <Time at={row.updated_at} /> },
];

const FIELDS: readonly Field[] = [{ name: "query", label: "name", text: true }];

const ACTIONS: readonly BulkAction[] = [
  { action: "clients.delete", verb: "Delete", noun: "client", danger: true, about: "Entries made by hand are deleted for good. Facts from sources stay." },
];

export default function Clients() {
  const [adding, setAdding] = useState(false);
  const go = useGo();
  const may = useMay("documents:write");
  const add = useAction(
    (body: Record<string, unknown>) => post<{ client_id: string }>("/v1/clients", body),
    ["clients"],
    (made) => {
      toast("The client was added.");
      go(`/clients/${made.client_id}`);
    },
  );
  return (
    <Page
      title="Clients"
      lead="Everything known about each client, merged from all sources."
      actions={
        may ? (
          <button type="button" onClick={() => setAdding(true)}>
            Add a client …
          </button>
        ) : null
      }
    >
      <ActingList
        label="Clients"
        path="/v1/clients"
        options={{ query: { limit: 100 }, live: ["clients"] }}
        fields={FIELDS}
        page="clients"
        placeholder="Find a client by name"
        columns={COLUMNS}
        rowKey={(row) => row.client_id}
        rowHref={(row) => `/clients/${row.client_id}`}
        actions={may ? ACTIONS : []}
        empty={
          <EmptyState title="No clients yet" command="penstock source connect hubspot">
            <p>Sources such as HubSpot and QuickBooks bring facts about clients. You can also add a client by hand.</p>
          </EmptyState>
        }
      />
      {adding ? <ClientForm title="Add a client" verb="Add the client" busy={add.isPending} error={add.error} onClose={() => setAdding(false)} onSave={(body) => add.mutate(body)} /> : null}
    </Page>
  );
}
