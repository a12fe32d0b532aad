/** The addresses of the console. Each page is a module of its own that is fetched when it is first opened. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { prefix } from "../lib/prefix";
import { parseQuery, writeQuery } from "../lib/filters";
import { EmptyState, ErrorBox } from "../ui/notices";
import { Page } from "../ui/page";
import { Shell } from "./shell";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <EmptyState title="There is no such page">The address may be of another version of the console.</EmptyState>
    </Page>
  ),
});

function page(path: string, load: () => Promise<{ default: ComponentType }>) {
  return createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });
}

const routes = [
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
  page("/processes/$process", () => import("../pages/processes/process")),
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

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: prefix || "/",
  parseSearch: parseQuery,
  stringifySearch: writeQuery,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="This page failed">
      <ErrorBox error={error} retry={reset} />
    </Page>
  ),
});
