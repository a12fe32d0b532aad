/** How many documents are in each status, under the other filters; each count is a filter. */

import type { Reply } from "../../api/client";
import { useApi } from "../../api/queries";
import { usePageQuery } from "../../app/address";
import { filterOf, type Field } from "../../lib/filters";
import { compact, count } from "../../lib/numbers";
import { toneOf, wordOf } from "../../ui/state";
import { Icon } from "../../ui/icons";
import { STATUSES } from "./fields";

export function CountsRail({ fields }: { fields: readonly Field[] }) {
  const [query, change] = usePageQuery();
  const { status: _status, ...others } = filterOf(query, fields);
  const { data: counted, error } = useApi<Reply<"/v1/documents/counts">>("/v1/documents/counts", { query: others, live: ["documents"] });
  const chosen = new Set((query["status"] ?? "").split(",").filter(Boolean));
  return (
    <div className="rail" role="group" aria-label="Documents by status">
      {STATUSES.map((status) => {
        const answer = counted?.items.find((each) => each.status === status);
        const n = answer?.total ?? null;
        const pressed = chosen.has(status);
        return (
          <button
            key={status}
            type="button"
            className={`rail-item tone-edge-${toneOf(status)}`}
            aria-pressed={pressed}
            title={n === null ? undefined : `${count(n, answer?.approximate ?? false)} ${wordOf(status)}`}
            onClick={() => change({ status: pressed ? undefined : status, sel: undefined })}
          >
            <span className="rail-name">
              <Icon name={ICONS[status]} /> {wordOf(status)}
            </span>
            <span className={`rail-count ${n ? `tone-text-${toneOf(status)}` : "zero"}`}>
              {n === null ? (error ? "–" : "…") : `${answer?.approximate ? "≈ " : ""}${compact(n)}`}
            </span>
          </button>
        );
      })}
    </div>
  );
}

const ICONS = {
  pending: "waiting",
  processing: "running",
  embedding: "running",
  indexed: "done",
  skipped: "skipped",
  failed: "failed",
} as const;
