/** One colour, icon and word per state, everywhere. */

import { count, fitting } from "../lib/numbers";
import { Icon, type IconName } from "./icons";

export type Tone = "wait" | "run" | "good" | "bad" | "warn" | "quiet" | "hold";

const STATES: Readonly<Record<string, readonly [Tone, IconName, string?]>> = {
  // tasks
  ready: ["wait", "waiting"],
  waiting: ["wait", "waiting"],
  scheduled: ["wait", "waiting"],
  parked: ["hold", "paused"],
  held: ["hold", "paused"],
  leased: ["run", "running", "running"],
  running: ["run", "running"],
  completed: ["good", "done"],
  dead: ["bad", "dead"],
  cancelled: ["quiet", "stopped"],
  lost: ["warn", "attention"],
  snoozed: ["wait", "waiting"],
  retrying: ["warn", "refresh"],
  quarantined: ["bad", "attention"],
  // documents and ingestions
  pending: ["wait", "waiting"],
  queued: ["wait", "waiting"],
  received: ["wait", "waiting"],
  processing: ["run", "running"],
  parsing: ["run", "running"],
  embedding: ["run", "running"],
  indexed: ["good", "done"],
  unchanged: ["good", "done"],
  skipped: ["quiet", "skipped"],
  failed: ["bad", "failed"],
  deleted: ["quiet", "stopped"],
  // workers
  alive: ["good", "done"],
  silent: ["warn", "attention"],
  stopped: ["quiet", "stopped"],
  // operations and canaries
  planning: ["run", "running"],
  watching: ["run", "search"],
  done: ["good", "done"],
  // processes
  succeeded: ["good", "done"],
  open: ["run", "running"],
  closed: ["quiet", "stopped"],
  // the whole
  well: ["good", "done", "all is well"],
  attention: ["warn", "attention", "needs attention"],
  failing: ["bad", "failed"],
  // sources
  healthy: ["good", "done"],
  connected: ["good", "done"],
  active: ["good", "done"],
  syncing: ["run", "running"],
  never_synced: ["wait", "waiting", "never synced"],
  needs_attention: ["warn", "attention", "needs attention"],
  needs_reconnect: ["bad", "attention", "needs reconnecting"],
  reauthorize: ["bad", "attention", "needs reconnecting"],
  disconnected: ["quiet", "stopped"],
  paused: ["hold", "paused"],
  error: ["bad", "failed"],
  // keys and sessions
  expired: ["quiet", "stopped"],
  revoked: ["quiet", "stopped"],
};

export function toneOf(state: string): Tone {
  return STATES[state]?.[0] ?? "quiet";
}

export function wordOf(state: string): string {
  return STATES[state]?.[2] ?? state.replaceAll("_", " ");
}

export function StateBadge({ state, word, title }: { state: string; word?: string | undefined; title?: string | undefined }) {
  const [tone, icon] = STATES[state] ?? (["quiet", "unknown"] as const);
  return (
    <span className={`badge tone-${tone}`} title={title}>
      <Icon name={icon} />
      <span>{word ?? wordOf(state)}</span>
    </span>
  );
}

/** A number of things in a state: coloured only when there are any, short where it is large, whole on hover. */
export function StateCount({ state, n, approximate = false }: { state: string; n: number; approximate?: boolean }) {
  return (
    <span className={n > 0 ? `tone-text-${toneOf(state)}` : "zero"} title={count(n, approximate)}>
      {fitting(n, approximate)}
    </span>
  );
}
