/** The places of the console, in the order of the side bar. */

import type { IconName } from "../ui/icons";

export interface Place {
  readonly path: string;
  readonly text: string;
  readonly icon: IconName;
  /** The second key after g. */
  readonly key: string;
}

export const PLACES: readonly (readonly [string, readonly Place[]])[] = [
  [
    "Documents",
    [
      { path: "/", text: "Overview", icon: "overview", key: "o" },
      { path: "/documents", text: "Documents", icon: "documents", key: "d" },
      { path: "/search", text: "Search", icon: "search", key: "s" },
      { path: "/sources", text: "Sources", icon: "sources", key: "i" },
      { path: "/clients", text: "Clients", icon: "clients", key: "c" },
    ],
  ],
  [
    "Work",
    [
      { path: "/queues", text: "Queues", icon: "queues", key: "q" },
      { path: "/tasks", text: "Tasks", icon: "tasks", key: "t" },
      { path: "/failures", text: "Failures", icon: "failures", key: "f" },
      { path: "/processes", text: "Processes", icon: "processes", key: "p" },
      { path: "/workers", text: "Workers", icon: "workers", key: "w" },
      { path: "/inlets", text: "Inlets", icon: "inlets", key: "l" },
      { path: "/operations", text: "Operations", icon: "operations", key: "b" },
    ],
  ],
  ["Settings", [{ path: "/access", text: "Access", icon: "access", key: "a" }]],
];

/** The place a path belongs to. */
export function placeOf(path: string): string {
  if (path === "/schedules") return "/workers";
  const found = PLACES.flatMap(([, places]) => places).filter(
    (place) => path === place.path || (place.path !== "/" && path.startsWith(`${place.path}/`)),
  );
  return found[0]?.path ?? "";
}
