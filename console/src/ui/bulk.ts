/** What a dialog about many items says before it acts: the number it names, and how much is tried first. */

import type { Preview } from "../api/operate";
import { count } from "../lib/numbers";

export interface BulkAction {
  /** The operation's name in the API: "documents.retry". */
  readonly action: string;
  /** "Retry", "Delete": the verb before the number. */
  readonly verb: string;
  /** "document": the noun after the number. */
  readonly noun: string;
  /** Where an s does not make the plural. */
  readonly nouns?: string;
  readonly danger?: boolean;
  /** One sentence in the dialog about what happens. */
  readonly about?: string;
  /** Offer to try a part first. */
  readonly canary?: boolean;
}

export interface Told {
  /** How many it acts on. */
  readonly n: number;
  readonly title: string;
  /** On the button. */
  readonly verb: string;
  /** How many per cent are tried first; 0 for all at once. */
  readonly percent: number;
}

/** Before the preview is here, nothing has a number. */
export function told(action: BulkAction, preview: Pick<Preview, "count" | "approximate" | "skipped"> | null, canary: number): Told {
  if (!preview) return { n: 0, title: `${action.verb} …`, verb: action.verb, percent: 0 };
  // What the action would leave out is not in the number it names.
  const n = preview.count - preview.skipped.reduce((sum, skipped) => sum + skipped.count, 0);
  const named = `${action.verb} ${count(n, preview.approximate)} ${n === 1 ? action.noun : (action.nouns ?? `${action.noun}s`)}`;
  // Of one item there is no part to try.
  const percent = action.canary && n > 1 ? canary : 0;
  return { n, title: `${named}?`, verb: percent > 0 ? `Try ${percent} % first` : named, percent };
}

/** Per cent to try first, as somebody typed it: a whole number that the API takes. */
export function percentOf(typed: string): number {
  return Math.max(1, Math.min(50, Math.round(Number(typed)) || 1));
}
