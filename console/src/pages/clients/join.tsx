/** Joins a client with another one, which is found by name first. */

import { useState } from "react";
import { post, type Schemas } from "../../api/client";
import { useAction, useRows } from "../../api/queries";
import { plural } from "../../lib/numbers";
import { Confirm, Dialog } from "../../ui/dialog";
import { EmptyState } from "../../ui/notices";
import { toast } from "../../ui/toast";
import { Name } from "../../ui/values";

type Details = Schemas["ClientDetails"];

export function Join({ client, onClose }: { client: Details; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [other, setOther] = useState<Schemas["ClientRow"] | null>(null);
  const list = useRows<Schemas["ClientRow"]>("/v1/clients", (row) => row.client_id, { query: { limit: 20, ...(typed.trim() ? { query: typed.trim() } : {}) }, live: ["clients"] });
  const join = useAction((_: null) => post<Details>(`/v1/clients/${client.client_id}/join`, { other_id: other?.client_id }), ["clients"], () => {
    toast("Joined into one client.");
    onClose();
  });
  const found = list.rows.filter((row) => row.client_id !== client.client_id);
  if (other)
    return (
      <Confirm open onClose={onClose} title="Join 2 clients?" verb="Join 2 clients" busy={join.isPending} error={join.error} onConfirm={() => join.mutate(null)}>
        <p>
          <bdi>{client.name}</bdi> and <bdi>{other.name}</bdi> become one client with {plural(client.record_count + other.record_count, "record")}. Later syncs keep them together; you can split a record off again.
        </p>
      </Confirm>
    );
  return (
    <Dialog open onClose={onClose} title={`Join ${client.name} with …`}>
      <label className="field">
        Find the other client
        <input autoFocus type="search" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
      {found.length === 0 ? (
        <EmptyState title={list.isPending ? "Searching …" : "No other client has this name"} />
      ) : (
        <ul className="choices-list">
          {found.map((row) => (
            <li key={row.client_id}>
              <button type="button" className="menu-item" onClick={() => setOther(row)}>
                <Name>{row.name}</Name>
                <span className="quiet">{plural(row.record_count, "record")}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
