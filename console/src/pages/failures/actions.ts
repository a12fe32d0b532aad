/** What can be done with failures. */

import type { BulkAction } from "../../ui/bulk-bar";

export const REPLAY: BulkAction = {
  action: "dead.replay",
  verb: "Replay",
  noun: "dead letter",
  about: "They go back into their queues with a new set of attempts.",
  canary: true,
};
export const RETRY: BulkAction = {
  action: "documents.retry",
  verb: "Retry",
  noun: "document",
  about: "They are processed again from their stored originals.",
  canary: true,
};
export const PURGE: BulkAction = {
  action: "dead.purge",
  verb: "Purge",
  noun: "dead letter",
  danger: true,
  about: "They are deleted for good and cannot be replayed.",
};
