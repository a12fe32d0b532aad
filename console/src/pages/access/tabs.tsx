/** The frame of the pages about access: who may do what, and who did. */

import type { ReactNode } from "react";
import { A, usePath } from "../../app/address";
import { useSession, useTenant } from "../../app/session";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";

export function AccessPage({ title, lead, actions, admin = true, children }: { title: string; lead: string; actions?: ReactNode; admin?: boolean; children: ReactNode }) {
  const session = useSession();
  const path = usePath();
  const [tenant] = useTenant();
  const tabs = [
    ["/access/keys", "Keys"],
    ["/access/sessions", "Sessions"],
    ...(session?.is_installation ? [["/access/tenants", "Tenants"]] : []),
    ["/access/audit", "Audit"],
  ] as const;
  const needsTenant = title === "Keys" && session?.is_installation && tenant === null;
  const refused = session && admin && session.role !== "admin";
  return (
    <Page title={title} lead={lead} actions={refused || needsTenant ? null : actions}>
      <nav className="states" aria-label="Access">
        {tabs.map(([to, text]) => (
          <A key={to} to={to as string} aria-current={path === to || (path === "/access" && text === title) ? "page" : undefined}>
            {text}
          </A>
        ))}
      </nav>
      {refused ? (
        <EmptyState title="This needs the admin role">
          <p>
            You are signed in as {session.name} with the role {session.role}. Ask an administrator, or sign in with a link that has the role:
          </p>
        </EmptyState>
      ) : needsTenant ? (
        <EmptyState title="Choose a tenant">
          <p>Keys belong to one tenant. Choose it at the top of the page.</p>
        </EmptyState>
      ) : (
        children
      )}
    </Page>
  );
}
