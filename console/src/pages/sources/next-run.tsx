/** When a source is read next: at a time, when its provider notifies us, or when somebody asks. */

import type { Schemas } from "../../api/client";
import { Time } from "../../ui/values";

type Source = Pick<Schemas["Source"], "health" | "next_sync_at" | "kind" | "status">;

export function NextRun({ source }: { source: Source }) {
  const at = source.health.next_try_at ?? source.next_sync_at;
  if (at) return <Time at={at} />;
  if (source.status === "paused") return <span className="zero">paused</span>;
  if (source.kind === "webhook" || source.health.push?.state === "active") return <span className="quiet">when notified</span>;
  return <span className="quiet">when asked</span>;
}
