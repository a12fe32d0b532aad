/** Upload by drag and drop or by a button; each file's way through the stages is followed without a reload. */

import { useEffect, useRef, useState, useSyncExternalStore, type DragEvent, type ReactNode } from "react";
import { useApi } from "../../api/queries";
import type { Schemas } from "../../api/client";
import { A } from "../../app/address";
import { bytes, plural } from "../../lib/numbers";
import { Icon } from "../../ui/icons";
import { StateBadge } from "../../ui/state";
import { Name } from "../../ui/values";
import { stageOf, STAGES } from "./stages";
import { uploads, type Upload } from "./uploading";

export function DropArea({ enabled, project, children }: { enabled: boolean; project: string; children: ReactNode }) {
  const [over, setOver] = useState(0);
  const carriesFiles = (event: DragEvent) => enabled && event.dataTransfer.types.includes("Files");
  return (
    <div
      className={over > 0 ? "drop over" : "drop"}
      onDragEnter={(event) => carriesFiles(event) && setOver((n) => n + 1)}
      onDragLeave={(event) => carriesFiles(event) && setOver((n) => Math.max(0, n - 1))}
      onDragOver={(event) => carriesFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setOver(0);
        uploads.add(event.dataTransfer.files, project);
      }}
    >
      {children}
      {over > 0 ? (
        <div className="drop-hint" aria-hidden="true">
          <Icon name="upload" /> Drop to upload to {project}
        </div>
      ) : null}
    </div>
  );
}

export function UploadButton({ project }: { project: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        className="visually-hidden"
        aria-label="Files to upload"
        tabIndex={-1}
        onChange={(event) => {
          if (event.target.files) uploads.add([...event.target.files], project);
          event.target.value = "";
        }}
      />
      <button type="button" className="primary" onClick={() => input.current?.click()}>
        <Icon name="upload" /> Upload
      </button>
    </>
  );
}

const SHOWN = 20;

export function UploadPanel() {
  const all = useSyncExternalStore(uploads.subscribe, uploads.all);
  const busy = all.some((upload) => upload.state === "queued" || upload.state === "sending");
  useEffect(() => {
    if (!busy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [busy]);
  if (all.length === 0) return null;
  return (
    <section className="uploads" aria-label="Uploads">
      <header>
        <h2>{plural(all.length, "upload")}</h2>
        {busy ? null : (
          <button type="button" className="icon-button" aria-label="Close the list of uploads" onClick={() => uploads.clear()}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <ul>
        {all.slice(-SHOWN).map((upload) => (
          <li key={upload.id}>
            <UploadLine upload={upload} />
          </li>
        ))}
      </ul>
      {all.length > SHOWN ? <p className="quiet small">and {plural(all.length - SHOWN, "earlier one")}</p> : null}
    </section>
  );
}

function UploadLine({ upload }: { upload: Upload }) {
  if (upload.documentId !== null && !upload.isKnown) return <Followed upload={upload} documentId={upload.documentId} />;
  return (
    <div className="upload-line">
      {upload.documentId ? (
        <A to={`/documents/${upload.documentId}`}>
          <Name>{upload.name}</Name>
        </A>
      ) : (
        <Name>{upload.name}</Name>
      )}
      {upload.state === "sending" ? (
        <progress max={Math.max(1, upload.size)} value={upload.sent} aria-label={`Sending ${upload.name}`} />
      ) : upload.state === "refused" ? (
        <span className="upload-error" role="alert">
          <StateBadge state="failed" word="refused" /> {upload.error} {upload.remedy}
        </span>
      ) : upload.isKnown ? (
        <StateBadge state="unchanged" word="already indexed" />
      ) : (
        <span className="quiet">waits for its turn</span>
      )}
      <span className="quiet right">{bytes(upload.size)}</span>
    </div>
  );
}

function Followed({ upload, documentId }: { upload: Upload; documentId: string }) {
  const found = useApi<Schemas["Document"]>(`/v1/documents/${documentId}`, { live: [`document:${documentId}`, "documents"] });
  const status = found.data?.status ?? "pending";
  return (
    <div className="upload-line" data-status={status}>
      <A to={`/documents/${documentId}`}>
        <Name>{upload.name}</Name>
      </A>
      <Stages status={status} reason={found.data?.reason_code} />
      {status === "failed" || status === "skipped" ? (
        <span className="upload-error">
          <StateBadge state={status} /> {found.data?.error_message ?? found.data?.reason_code}
        </span>
      ) : null}
      <span className="quiet right">{bytes(upload.size)}</span>
    </div>
  );
}

/** Received, parsed, embedded, searchable: where a document is. */
export function Stages({ status, reason }: { status: string; reason: string | null | undefined }) {
  const { at, ended, waits } = stageOf(status, reason);
  const now = ended === "bad" ? "bad" : ended === "quiet" ? "quiet" : ended === "good" ? "done" : waits ? "wait" : "now";
  return (
    <ol className="way" aria-label={`Status: ${status}`}>
      {STAGES.map((stage, index) => {
        const state = index < at ? "done" : index === at ? now : "later";
        return (
          <li key={stage} className={`way-step ${state}`}>
            <Icon name={STAGE_ICONS[state]} />
            <span>{stage}</span>
          </li>
        );
      })}
    </ol>
  );
}

const STAGE_ICONS = { done: "done", bad: "failed", quiet: "skipped", wait: "waiting", now: "running", later: "unknown" } as const;
