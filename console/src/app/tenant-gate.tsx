/** Documents, sources and clients belong to a tenant: somebody who sees all of them chooses one first. */

import { useEffect, type ReactNode } from "react";
import { ErrorBox, EmptyState, Loading } from "../ui/notices";
import { Page } from "../ui/page";
import { useSessionQuery, useTenant } from "./session";

const OF_A_TENANT = ["/documents", "/upload", "/search", "/sources", "/clients", "/settings"];

export function TenantGate({ path, children }: { path: string; children: ReactNode }) {
  const session = useSessionQuery();
  const [tenant, choose] = useTenant();
  const needed = OF_A_TENANT.some((each) => path === each || path.startsWith(`${each}/`));
  const tenants = session.data?.tenants ?? [];
  const only = tenants.length === 1 ? tenants[0]?.slug : undefined;
  const open = !needed || tenant !== null || session.data?.is_installation === false;
  // Chosen in an earlier session of this browser, and not for this one to see.
  const foreign = session.data !== undefined && tenant !== null && !tenants.some((each) => each.slug === tenant);
  useEffect(() => {
    if (foreign) choose(null);
    else if (!open && only !== undefined) choose(only);
  }, [foreign, open, only, choose]);
  if (foreign || (tenant !== null && !session.data)) return session.error ? <ErrorBox error={session.error} /> : <Loading />;
  if (open) return children;
  if (!session.data) return session.error ? <ErrorBox error={session.error} /> : <Loading />;
  if (tenants.length === 0)
    return (
      <Page title="No tenant yet">
        <EmptyState title="There is no tenant yet" command="penstock tenant create acme">
          Documents belong to a tenant. Create one first.
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Choose a tenant" lead="This page shows what belongs to one tenant. You can switch at the top at any time.">
      <ul className="tenant-choice" aria-label="Tenants">
        {tenants.map((each) => (
          <li key={each.slug}>
            <button type="button" onClick={() => choose(each.slug)}>
              <bdi>{each.name}</bdi> <span className="quiet">{each.slug}</span>
            </button>
          </li>
        ))}
      </ul>
    </Page>
  );
}
