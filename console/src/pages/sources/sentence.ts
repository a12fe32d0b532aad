/** How a source is, in one honest sentence. */

import type { Schemas } from "../../api/client";
import { count } from "../../lib/numbers";
import { duration, relative } from "../../lib/time";

type Source = Pick<Schemas["Source"], "health" | "status" | "synced_at" | "next_sync_at" | "sync_every_seconds" | "kind">;

const when = (at: string, now: Date) => relative(new Date(at), now);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const ended = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** "refresh_token_invalid: invalid_grant", for people. */
function refused(reason: string | null | undefined): string {
  const code = reason?.split(": ").at(-1);
  const why = code && code !== "refresh_token_invalid" ? ` (${code})` : "";
  return `The provider no longer accepts our access${why}: it was revoked or has expired. Reconnect it; documents already read are kept.`;
}

export function sentence(source: Source, now: Date): string {
  const health = source.health;
  const last = source.synced_at ? ` Last complete read: ${when(source.synced_at, now)}.` : " It has never been read completely.";
  const next = source.next_sync_at ? ` Next run ${when(source.next_sync_at, now)}.` : "";
  switch (health.state) {
    case "healthy":
      return source.synced_at ? `Up to date: everything was read ${when(source.synced_at, now)}.${next}` : `Up to date.${next}`;
    case "syncing": {
      const seen = health.seen ?? 0;
      const of = health.expected ? ` of about ${count(health.expected)}` : "";
      const since = health.since ? `, for ${duration((now.getTime() - new Date(health.since).getTime()) / 1000)}` : "";
      return `Syncing${since}: ${count(seen)}${of} items so far.`;
    }
    case "never_synced":
      return "Connected, not read yet. The first sync starts as soon as a worker is free.";
    case "retrying": {
      const again = health.next_try_at ? ` It will try again ${when(health.next_try_at, now)}.` : " It will try again.";
      return `${ended(capital(health.reason ?? "The last sync did not finish"))}${again}${last}`;
    }
    case "degraded":
      return `${ended(capital(health.reason ?? "The provider sends no notifications"))}${last}`;
    case "needs_you": {
      if (health.connection === "token_refresh_failed") return `${refused(health.reason)}${last}`;
      // The action names a command, and here is a button.
      const action = (health.action ?? "Reconnect it").replace(/: penstock .*$/, "");
      return `${ended(capital(health.reason ?? "It has stopped"))} ${ended(action)}${last}`;
    }
    case "paused":
      return `Paused: nothing is read until it is resumed.${last}`;
    case "receiving":
      return "Ready to receive what another system sends.";
    default:
      return ended(capital(health.reason ?? health.state.replaceAll("_", " ")));
  }
}

/** Whether connecting it again at the provider is what helps. */
export function needsReconnect(source: Source): boolean {
  const connection = source.health.connection;
  return source.health.state === "needs_you" && (connection === "token_refresh_failed" || source.status === "error");
}
