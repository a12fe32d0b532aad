/** A queue's limit in words. */

import type { QueueLimit } from "../../api/operate";
import { count } from "../../lib/numbers";
import { duration } from "../../lib/time";

export function limitWords(limit: QueueLimit): { of: string; running: string; rate: string } {
  const of = { queue: "the whole queue", each_key: "each key", key: `the key ${limit.key_hash?.slice(0, 12) ?? ""}…` }[limit.scope];
  const running = limit.max_running === null ? "no limit" : `${count(limit.max_running)} at once`;
  const rate =
    limit.rate_count === null || limit.rate_period_seconds === null
      ? "no limit"
      : `${count(limit.rate_count)} per ${duration(limit.rate_period_seconds)}${limit.rate_burst ? `, at most ${count(limit.rate_burst)} in a burst` : ""}`;
  return { of, running, rate };
}
