/** What a key may do, in the order of the form, and whether it works. */

import type { Schemas } from "../../api/client";

export const SCOPES = [
  ["documents:read", "Read documents, projects, sources and queues"],
  ["search", "Search"],
  ["documents:write", "Upload, retry, re-index and delete documents"],
  ["projects:write", "Create, change and re-index projects"],
  ["operate", "Act on queues, tasks, failures and sources"],
  ["admin", "Everything, and keys, sources and sign-ins"],
] as const;

type Key = Pick<Schemas["ApiKey"], "revoked_at" | "expires_at">;

export function keyState(key: Key, now: Date): "active" | "expired" | "revoked" {
  if (key.revoked_at) return "revoked";
  if (key.expires_at && new Date(key.expires_at) <= now) return "expired";
  return "active";
}

/** The end of the day this many days from now; null for no end. */
export function expiryIn(days: number | null, now: Date): string | null {
  return days === null ? null : new Date(now.getTime() + days * 86_400_000).toISOString();
}
