/** The frame of the pages about access: who may do what, and who did. */

import type { ReactNode } from "react";
import { A, usePath } from "../../app/address";
import { useSessionQuery } from "../../app/session";
import { Answer, EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";

export function AccessPage({ title, lead, actions, admin = true, children }: { title: string; lead: string; actions?: ReactNode; admin?: boolean; children: ReactNode }) {
  const asked = useSessionQuery();
  const session = asked.data;
  const path = usePath();
  const tabs = [
    ["/access/keys", "Keys"],
    ["/access/sessions", "Sessions"],
    ...(session?.is_installation ? [["/access/tenants", "Tenants"]] : []),
    ["/access/audit", "Audit"],
  ] as const;
  const refused = session && admin && session.role !== "admin";
  return (
    <Page title={title} lead={lead} actions={session && !refused ? actions : null}>
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
      ) : (
        <Answer of={asked}>{() => children}</Answer>
      )}
    </Page>
  );
}
