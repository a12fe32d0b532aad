/** What can be done with a source: sync now, pause, reconnect in place, disconnect. */

import { useState } from "react";
import { call, post, put, remove, type Reply, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { useGo } from "../../app/address";
import { useMay } from "../../app/session";
import { count, plural } from "../../lib/numbers";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { ErrorBox } from "../../ui/notices";
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
    toast(everything ? "Everything is read again." : "A sync was asked for."),
  );
  const pause = useAction((_: null) => post(`${at}/pause`), changes);
  const resume = useAction((_: null) => post(`${at}/resume`), changes);
  const connect = useConnect();
  const [asked, setAsked] = useState<"disconnect" | "password" | null>(null);
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
      {mayOperate && isRead && !isPaused ? (
        <button type="button" disabled={sync.isPending || source.health.state === "syncing"} onClick={() => sync.mutate(false)}>
          <Icon name="refresh" /> Sync now
        </button>
      ) : null}
      {mayOperate && isRead && full && !isPaused ? (
        <button type="button" disabled={sync.isPending} onClick={() => sync.mutate(true)} title="Reads everything again and finds deletions that the provider never told">
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
    </div>
  );
}

/** Asks what becomes of its documents, and names how many there are. */
function Disconnect({ source, documents, onClose }: { source: Source; documents: number | null; onClose: () => void }) {
  const go = useGo();
  const [fate, setFate] = useState<"keep" | "delete" | null>(null);
  const isWebhook = source.kind === "webhook";
  const n = documents ?? 0;
  const disconnect = useAction(
    (_: null) => remove(`/v1/sources/${source.source_id}`, isWebhook ? undefined : { documents: fate }),
    ["sources", "documents"],
    () => {
      toast(fate === "delete" ? `Disconnected; ${plural(n, "document")} are being deleted.` : `Disconnected; ${plural(n, "document")} kept.`);
      go("/sources", { replace: true });
    },
  );
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Disconnect ${source.name}?`}
      verb={fate === "delete" ? `Disconnect and delete ${plural(n, "document")}` : isWebhook ? "Remove the webhook" : `Disconnect and keep ${plural(n, "document")}`}
      danger
      disabled={!isWebhook && fate === null}
      busy={disconnect.isPending}
      error={disconnect.error}
      onConfirm={() => disconnect.mutate(null)}
    >
      <p>{isWebhook ? "Its secret is deleted, and deliveries are rejected from now on. Its documents are kept." : "Its syncs stop, and its tokens are revoked at the provider."}</p>
      {isWebhook ? null : (
        <fieldset className="choices">
          <legend>{count(n)} documents came from it. What becomes of them?</legend>
          <label>
            <input type="radio" name="fate" checked={fate === "keep"} onChange={() => setFate("keep")} /> Keep them
          </label>
          <label>
            <input type="radio" name="fate" checked={fate === "delete"} onChange={() => setFate("delete")} /> Delete them, with their originals and what they state about clients
          </label>
        </fieldset>
      )}
    </Confirm>
  );
}

function NewPassword({ source, onClose }: { source: Source; onClose: () => void }) {
  const [password, setPassword] = useState("");
  const save = useAction((_: null) => put(`/v1/sources/${source.source_id}/password`, { password }), ["sources", `source:${source.source_id}`], () => {
    toast("The new password is used from now on.");
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
