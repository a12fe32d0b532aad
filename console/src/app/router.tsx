/** The pages by their addresses. */

import { Component, useEffect, useMemo, useState, type ReactNode } from "react";
import { matchPath } from "../lib/routes";
import Access from "../pages/access/access";
import Audit from "../pages/access/audit";
import Keys from "../pages/access/keys";
import Sessions from "../pages/access/sessions";
import Tenants from "../pages/access/tenants";
import Client from "../pages/clients/client";
import Clients from "../pages/clients/clients";
import Document from "../pages/documents/document";
import Documents from "../pages/documents/documents";
import Upload from "../pages/documents/upload";
import Failure from "../pages/failures/failure";
import Failures from "../pages/failures/failures";
import Inlet from "../pages/inlets/inlet";
import Inlets from "../pages/inlets/inlets";
import Operation from "../pages/operations/operation";
import Operations from "../pages/operations/operations";
import Overview from "../pages/overview/overview";
import Process from "../pages/processes/process";
import Processes from "../pages/processes/processes";
import Queue from "../pages/queues/queue";
import Queues from "../pages/queues/queues";
import Search from "../pages/search/search";
import Connect from "../pages/sources/connect";
import Skipped from "../pages/sources/skipped";
import Source from "../pages/sources/source";
import Sources from "../pages/sources/sources";
import Compare from "../pages/tasks/compare";
import Task from "../pages/tasks/task";
import Tasks from "../pages/tasks/tasks";
import Schedules from "../pages/workers/schedules";
import Workers from "../pages/workers/workers";
import { EmptyState, ErrorBox } from "../ui/notices";
import { Page } from "../ui/page";
import { AddressContext, currentAddress, onAddress } from "./address";
import { Shell } from "./shell";
import { TenantGate } from "./tenant-gate";

const PAGES = [
  ["/", Overview],
  ["/queues", Queues],
  ["/queues/$queue", Queue],
  ["/tasks", Tasks],
  ["/tasks/$task", Task],
  ["/tasks/$task/compare", Compare],
  ["/failures", Failures],
  ["/failures/$group", Failure],
  ["/workers", Workers],
  ["/schedules", Schedules],
  ["/inlets", Inlets],
  ["/inlets/$name", Inlet],
  ["/processes", Processes],
  ["/processes/$process/$root", Process],
  ["/operations", Operations],
  ["/operations/$operation", Operation],
  ["/documents", Documents],
  ["/documents/$document", Document],
  ["/upload", Upload],
  ["/search", Search],
  ["/sources", Sources],
  ["/settings/integrations", Sources],
  ["/sources/skipped", Skipped],
  ["/sources/connect", Connect],
  ["/sources/$source", Source],
  ["/clients", Clients],
  ["/clients/$client", Client],
  ["/access", Access],
  ["/access/tenants", Tenants],
  ["/access/keys", Keys],
  ["/access/sessions", Sessions],
  ["/access/audit", Audit],
] as const;

export function Router() {
  const [address, setAddress] = useState(currentAddress);
  useEffect(() => onAddress(() => setAddress(currentAddress())), []);
  const found = useMemo(() => matchPath(address.path, PAGES), [address.path]);
  const shown = useMemo(() => ({ ...address, params: found?.params ?? {} }), [address, found]);
  const Found = found?.value ?? NotFound;
  return (
    <AddressContext value={shown}>
      <Shell>
        <Failing key={address.path}>
          <TenantGate path={address.path}>
            <Found />
          </TenantGate>
        </Failing>
      </Shell>
    </AddressContext>
  );
}

function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState title="There is no such page">Check the address, or choose a page from the menu.</EmptyState>
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
