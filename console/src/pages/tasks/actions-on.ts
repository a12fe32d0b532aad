/** What can be done with tasks in one state. */

import type { BulkAction } from "../../ui/bulk";
import { PURGE, REPLAY } from "../failures/actions";

export function actionsOn(state: string): BulkAction[] {
  if (state === "dead") return [REPLAY, PURGE];
  const cancel: BulkAction = { action: "tasks.cancel", verb: "Cancel", noun: "task", danger: true, about: "Running tasks are asked to stop; the others do not start." };
  if (state === "waiting") return [{ action: "tasks.run_now", verb: "Run now", noun: "task", about: "They become due at once." }, cancel];
  return state === "ready" || state === "running" || state === "parked" ? [cancel] : [];
}
