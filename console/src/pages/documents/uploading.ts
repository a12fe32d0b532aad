/** Uploads of this browser tab: what is being sent, how far, and which document it became. */

import { at } from "../../lib/prefix";
import { chosenTenant } from "../../api/client";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly state: "queued" | "sending" | "received" | "refused";
  /** Bytes that were sent. */
  readonly sent: number;
  readonly documentId: string | null;
  /** The content was already indexed, so nothing runs. */
  readonly isKnown: boolean;
  readonly error: string | null;
  readonly remedy: string | null;
}

type Send = (file: File, project: string, progress: (sent: number) => void) => Promise<Answer>;
interface Answer {
  readonly document_id: string;
  readonly skipped: boolean;
}
export class Refused extends Error {
  constructor(
    message: string,
    readonly remedy: string | null,
  ) {
    super(message);
  }
}

const AT_ONCE = 3;

/** Sends a few files at a time, in order; tells its listeners of each change. */
export class Uploads {
  private list: readonly Upload[] = [];
  private readonly waiting: { id: number; file: File; project: string }[] = [];
  private readonly listeners = new Set<() => void>();
  private running = 0;
  private next = 1;

  constructor(private readonly send: Send) {}

  add(files: Iterable<File>, project: string): void {
    for (const file of files) {
      const id = this.next++;
      this.waiting.push({ id, file, project });
      this.list = [
        ...this.list,
        { id, name: file.name, size: file.size, state: "queued", sent: 0, documentId: null, isKnown: false, error: null, remedy: null },
      ];
    }
    this.tell();
    this.start();
  }

  /** Forgets those that ended; what is being sent goes on. */
  clear(): void {
    this.list = this.list.filter((upload) => upload.state === "queued" || upload.state === "sending");
    this.tell();
  }

  readonly all = (): readonly Upload[] => this.list;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private start(): void {
    while (this.running < AT_ONCE) {
      const one = this.waiting.shift();
      if (!one) return;
      this.running++;
      this.change(one.id, { state: "sending" });
      this.send(one.file, one.project, (sent) => this.change(one.id, { sent }))
        .then((answer) =>
          this.change(one.id, { state: "received", sent: one.file.size, documentId: answer.document_id, isKnown: answer.skipped }),
        )
        .catch((error: unknown) =>
          this.change(one.id, {
            state: "refused",
            error: error instanceof Error ? error.message : String(error),
            remedy: error instanceof Refused ? error.remedy : null,
          }),
        )
        .finally(() => {
          this.running--;
          this.start();
        });
    }
  }

  private change(id: number, change: Partial<Upload>): void {
    this.list = this.list.map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** By XMLHttpRequest, because fetch cannot tell how much of a body was sent. */
const sendByRequest: Send = (file, project, progress) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", at("/v1/documents/upload"));
    request.responseType = "json";
    const tenant = chosenTenant();
    if (tenant !== null) request.setRequestHeader("X-Penstock-Tenant", tenant);
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onerror = () => reject(new Refused("The connection was lost.", "Try again"));
    request.onload = () => {
      const answer = request.response as (Answer & { detail?: string; remedy?: string }) | null;
      if (request.status >= 200 && request.status < 300 && answer) resolve(answer);
      else reject(new Refused(answer?.detail ?? `The server answered ${request.status}.`, answer?.remedy ?? null));
    };
    const form = new FormData();
    form.append("project", project);
    form.append("file", file, file.name);
    request.send(form);
  });

export const uploads = new Uploads(sendByRequest);
