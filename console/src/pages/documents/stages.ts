/** The stages of a document in the words of the page, and where a status is among them. */

export const STAGES = ["received", "parsed", "embedded", "searchable"] as const;

export interface Stage {
  /** Index of the stage it is at, or that it ended at. */
  readonly at: number;
  readonly ended: "good" | "bad" | "quiet" | null;
  /** It waits before this stage instead of being worked on. */
  readonly waits?: boolean;
}

/** Codes of the model, its budget and the index, by the names of errors and of waits; all others are of parsing. */
const WHILE_EMBEDDING = /^(embedder|over_?budget|index)/i;

export function stageOf(status: string, reason?: string | null): Stage {
  switch (status) {
    case "processing":
      return { at: 1, ended: null };
    case "embedding":
      return { at: 2, ended: null };
    case "indexed":
      return { at: 3, ended: "good" };
    case "failed":
      return { at: reason && WHILE_EMBEDDING.test(reason) ? 2 : 1, ended: "bad" };
    case "skipped":
    case "deleted":
      return { at: 1, ended: "quiet" };
    default:
      return { at: 1, ended: null, waits: true };
  }
}
