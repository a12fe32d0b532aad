/** Who is signed in, and what they may do. */

import { useQuery } from "@tanstack/react-query";
import { call, type ApiError, type Schemas } from "../api/client";
import { store, useStored } from "../lib/stored";
import { reconnect } from "../live/live";

export type Session = Schemas["OwnSession"];

export function useSessionQuery() {
  return useQuery<Session, ApiError>({
    queryKey: ["session"],
    // Without the chosen tenant: it may be one that this session does not know.
    queryFn: ({ signal }) => call<Session>("GET", "/v1/session", { tenant: null, signal }),
    staleTime: 60_000,
  });
}

export function useSession(): Session | undefined {
  return useSessionQuery().data;
}

/** Whether the signed-in person has a scope: `useMay("operate")`. The server refuses in any case. */
export function useMay(scope: Session["scopes"][number]): boolean {
  const session = useSession();
  // As in the API, admin is everything.
  return session?.scopes.some((held) => held === scope || held === "admin") ?? false;
}

/** Whether the person may act on what belongs to no tenant: queues, limits, schedules. */
export function useMayRun(): boolean {
  const session = useSession();
  return (session?.is_installation ?? false) && (session?.scopes.includes("operate") ?? false);
}

function chooseTenant(slug: string | null): void {
  store("tenant", slug);
  reconnect();
}

/** The tenant an installation's session looks at (null: all), and how to look at another. */
export function useTenant(): [string | null, (slug: string | null) => void] {
  const [tenant] = useStored("tenant");
  return [tenant, chooseTenant];
}
