/** What can be done with a source: sync now, pause, reconnect in place, give it a new password or secret, disconnect. */

import { useState } from "react";
import { call, post, put, remove, type Reply, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { useGo } from "../../app/address";
import { useMay } from "../../app/session";
import { plural } from "../../lib/numbers";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { ErrorBox } from "../../ui/notices";
import { ShownOnce } from "../../ui/shown-once";
import { toast } from "../../ui/toast";
import { needsReconnect } from "./sentence";

type Source = Schemas["Source"];

/** Asks for the provider's consent page and goes there. */
export function useConnect() {
  return useAction(
    (wanted: { kind: string; project: string }) =>
      call<Reply<"/v1/sources/{provider}/connect">>("GET", `/v1/sources/${wanted.kind}/connect`, { query: { project: wanted.project } }),
    [],
    (answer) => location.assign((answer as { url: string }).url),
  );
}

const GRANTED = new Set(["hubspot", "google_drive", "quickbooks", "gmail", "outlook"]);

export function SourceActions({ source, documents, full = false }: { source: Source; documents: number | null; full?: boolean }) {
  const mayOperate = useMay("operate");
  const mayAdmin = useMay("admin");
  const changes = ["sources", `source:${source.source_id}`];
  const at = `/v1/sources/${source.source_id}`;
  const sync = useAction((everything: boolean) => post(`${at}/sync`, { full: everything }), changes, (_, everything) =>
    toast(everything ? "Reading everything again." : "Sync requested."),
  );
  const pause = useAction((_: null) => post(`${at}/pause`), changes);
  const resume = useAction((_: null) => post(`${at}/resume`), changes);
  const connect = useConnect();
  const [asked, setAsked] = useState<"disconnect" | "password" | "secret" | null>(null);
  const isPaused = source.status === "paused";
  const isRead = source.kind !== "webhook";
  return (
    <div className="actions">
      {mayAdmin && needsReconnect(source) && GRANTED.has(source.kind) ? (
        <button type="button" className="primary" disabled={connect.isPending} onClick={() => connect.mutate({ kind: source.kind, project: source.project })}>
          Reconnect
        </button>
      ) : null}
      {mayAdmin && source.kind === "imap" && (full || needsReconnect(source)) ? (
        <button type="button" className={needsReconnect(source) ? "primary" : ""} onClick={() => setAsked("password")}>
          New password …
        </button>
      ) : null}
      {mayAdmin && !isRead && full ? (
        <button type="button" onClick={() => setAsked("secret")}>
          New secret …
        </button>
      ) : null}
      {mayOperate && isRead && !isPaused ? (
        <button type="button" disabled={sync.isPending || source.health.state === "syncing"} onClick={() => sync.mutate(false)}>
          <Icon name="refresh" /> Sync now
        </button>
      ) : null}
      {mayOperate && isRead && full && !isPaused ? (
        <button type="button" disabled={sync.isPending} onClick={() => sync.mutate(true)} title="Reads everything again, which also finds deletions the provider did not report">
          Read everything again
        </button>
      ) : null}
      {mayOperate ? (
        isPaused ? (
          <button type="button" disabled={resume.isPending} onClick={() => resume.mutate(null)}>
            <Icon name="play" /> Resume
          </button>
        ) : (
          <button type="button" disabled={pause.isPending} onClick={() => pause.mutate(null)}>
            <Icon name="paused" /> Pause
          </button>
        )
      ) : null}
      {mayAdmin && full ? (
        <button type="button" className="danger" onClick={() => setAsked("disconnect")}>
          Disconnect …
        </button>
      ) : null}
      <ErrorBox error={sync.error ?? pause.error ?? resume.error ?? connect.error} />
      {asked === "disconnect" ? <Disconnect source={source} documents={documents} onClose={() => setAsked(null)} /> : null}
      {asked === "password" ? <NewPassword source={source} onClose={() => setAsked(null)} /> : null}
      {asked === "secret" ? <NewSecret onClose={() => setAsked(null)} /> : null}
    </div>
  );
}

/** Asks what becomes of its documents, and names how many there are. */
function Disconnect({ source, documents, onClose }: { source: Source; documents: number | null; onClose: () => void }) {
  const go = useGo();
  const [fate, setFate] = useState<"keep" | "delete" | null>(null);
  const isWebhook = source.kind === "webhook";
  const n = documents ?? 0;
  const at = `/v1/sources/${source.source_id}`;
  const disconnect = useAction(
    (_: null) => remove(at, isWebhook ? undefined : { documents: fate }),
    ["sources", "documents"],
    () => {
      toast(fate === "delete" ? `Disconnected; deleting ${plural(n, "document")}.` : `Disconnected; ${plural(n, "document")} kept.`);
      go("/sources", { replace: true });
    },
    at,
  );
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Disconnect ${source.name}?`}
      verb={fate === "delete" ? `Disconnect and delete ${plural(n, "document")}` : isWebhook ? "Remove the webhook" : fate === null ? "Disconnect" : `Disconnect and keep ${plural(n, "document")}`}
      danger
      disabled={!isWebhook && fate === null}
      busy={disconnect.isPending}
      error={disconnect.error}
      onConfirm={() => disconnect.mutate(null)}
    >
      <p>{isWebhook ? "Its secret is deleted, and deliveries are rejected from then on. Its documents are kept." : "Its syncs stop, and its tokens are revoked at the provider."}</p>
      {isWebhook ? null : (
        <fieldset className="choices">
          <legend>It brought {plural(n, "document")}. What should happen to {n === 1 ? "it" : "them"}?</legend>
          <label>
            <input type="radio" name="fate" checked={fate === "keep"} onChange={() => setFate("keep")} /> Keep them
          </label>
          <label>
            <input type="radio" name="fate" checked={fate === "delete"} onChange={() => setFate("delete")} /> Delete them, with their originals and the client facts taken from them
          </label>
        </fieldset>
      )}
    </Confirm>
  );
}

function NewPassword({ source, onClose }: { source: Source; onClose: () => void }) {
  const [password, setPassword] = useState("");
  const save = useAction((_: null) => put(`/v1/sources/${source.source_id}/password`, { password }), ["sources", `source:${source.source_id}`], () => {
    toast("The new password is in use.");
    onClose();
  });
  return (
    <Confirm open onClose={onClose} title={`New password for ${source.name}`} verb="Use this password" busy={save.isPending} disabled={password === ""} error={save.error} onConfirm={() => save.mutate(null)}>
      <label className="field">
        Password
        <input type="password" autoComplete="off" value={password} onChange={(event) => setPassword(event.target.value)} />
        <span className="quiet">It goes to the vault and is never shown again.</span>
      </label>
    </Confirm>
  );
}

/** Of the tenant's webhook, which has no id in the call: there is one for each tenant. */
function NewSecret({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Schemas["SourceSecret"] | null>(null);
  const rotate = useAction((_: null) => post<Schemas["SourceSecret"]>("/v1/sources/webhook/rotate"), ["sources"], setMade);
  return made ? (
    <ShownOnce of={made} title="The new secret is in use" onClose={onClose}>
      <p>Give it to the system that sends the documents. It is shown only now:</p>
    </ShownOnce>
  ) : (
    <Confirm open onClose={onClose} title="Give the webhook a new secret?" verb="Rotate the secret" busy={rotate.isPending} error={rotate.error} onConfirm={() => rotate.mutate(null)}>
      <p>What is signed with the present secret is accepted until the next rotation. The secret before it stops working.</p>
    </Confirm>
  );
}
