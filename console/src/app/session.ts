/** Who is signed in, and what they may do. */

import { useQueryClient } from "@tanstack/react-query";
import { useApi } from "../api/queries";
import { store, useStored } from "../lib/stored";
import { reconnect } from "../live/live";

export interface Session {
  readonly name: string;
  readonly role: "viewer" | "operator" | "admin";
  readonly is_installation: boolean;
  readonly tenant: { readonly slug: string; readonly name: string } | null;
  readonly tenants: readonly { readonly slug: string; readonly name: string }[];
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly version: string;
  readonly prefix: string;
}

export function useSession(): Session | undefined {
  return useApi<Session>("/v1/session").data;
}

/** Whether the signed-in person has a scope: `useMay("operate")`. The server refuses in any case. */
export function useMay(scope: string): boolean {
  const session = useSession();
  // As in the API, admin is everything.
  return session?.scopes.some((held) => held === scope || held === "admin") ?? false;
}

/** Whether the person may act on what belongs to no tenant: queues, limits, schedules. */
export function useMayRun(): boolean {
  const session = useSession();
  return (session?.is_installation ?? false) && (session?.scopes.includes("operate") ?? false);
}

/** The tenant an installation's session looks at (null: all), and how to look at another. */
export function useTenant(): [string | null, (slug: string | null) => void] {
  const [tenant] = useStored("tenant");
  const client = useQueryClient();
  return [
    tenant,
    (slug) => {
      store("tenant", slug);
      client.clear();
      reconnect();
    },
  ];
}
