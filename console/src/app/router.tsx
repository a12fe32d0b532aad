/** The pages by their addresses. Each is a module of its own that is fetched when it is first opened. */

import { Component, lazy, startTransition, Suspense, useEffect, useMemo, useRef, useState, type ComponentType, type ReactNode } from "react";
import { matchPath } from "../lib/routes";
import { EmptyState, ErrorBox, Loading } from "../ui/notices";
import { Page } from "../ui/page";
import { AddressContext, currentAddress, onAddress } from "./address";
import { Shell } from "./shell";
import { TenantGate } from "./tenant-gate";

const page = (path: string, load: () => Promise<{ default: ComponentType }>) => [path, lazy(load)] as const;

const PAGES = [
  page("/", () => import("../pages/overview/overview")),
  page("/queues", () => import("../pages/queues/queues")),
  page("/queues/$queue", () => import("../pages/queues/queue")),
  page("/tasks", () => import("../pages/tasks/tasks")),
  page("/tasks/$task", () => import("../pages/tasks/task")),
  page("/tasks/$task/compare", () => import("../pages/tasks/compare")),
  page("/failures", () => import("../pages/failures/failures")),
  page("/failures/$group", () => import("../pages/failures/failure")),
  page("/workers", () => import("../pages/workers/workers")),
  page("/processes", () => import("../pages/processes/processes")),
  page("/processes/$process/$root", () => import("../pages/processes/process")),
  page("/operations", () => import("../pages/operations/operations")),
  page("/operations/$operation", () => import("../pages/operations/operation")),
  page("/documents", () => import("../pages/documents/documents")),
  page("/documents/$document", () => import("../pages/documents/document")),
  page("/upload", () => import("../pages/documents/upload")),
  page("/search", () => import("../pages/search/search")),
  page("/sources", () => import("../pages/sources/sources")),
  page("/settings/integrations", () => import("../pages/sources/sources")),
  page("/sources/skipped", () => import("../pages/sources/skipped")),
  page("/sources/connect", () => import("../pages/sources/connect")),
  page("/sources/$source", () => import("../pages/sources/source")),
  page("/clients", () => import("../pages/clients/clients")),
  page("/clients/$client", () => import("../pages/clients/client")),
  page("/access", () => import("../pages/access/access")),
  page("/access/tenants", () => import("../pages/access/tenants")),
  page("/access/keys", () => import("../pages/access/keys")),
  page("/access/sessions", () => import("../pages/access/sessions")),
  page("/access/audit", () => import("../pages/access/audit")),
];

export function Router() {
  const [address, setAddress] = useState(currentAddress);
  const currentPath = useRef(address.path);
  useEffect(
    () =>
      onAddress(() => {
        const next = currentAddress();
        // In a transition the old page stays until the module of the new one is here. On the same page a filter
        // or a box that lives in the address has to answer to a click at once.
        if (next.path === currentPath.current) setAddress(next);
        else startTransition(() => setAddress(next));
        currentPath.current = next.path;
      }),
    [],
  );
  const found = useMemo(() => matchPath(address.path, PAGES), [address.path]);
  const shown = useMemo(() => ({ ...address, params: found?.params ?? {} }), [address, found]);
  const Found = found?.value ?? NotFound;
  return (
    <AddressContext value={shown}>
      <Shell>
        <Failing key={address.path}>
          <Suspense fallback={<Loading />}>
            <TenantGate path={address.path}>
              <Found />
            </TenantGate>
          </Suspense>
        </Failing>
      </Shell>
    </AddressContext>
  );
}

function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState title="There is no such page">The address may be of another version of the console.</EmptyState>
    </Page>
  );
}

/** An error in a page stays in that page: the side bar works on. */
class Failing extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Page title="This page failed">
        <ErrorBox error={this.state.error} retry={() => location.reload()} />
      </Page>
    );
  }
}
