/** Where the page of an operation's item is. */

const PLACES: Readonly<Record<string, string>> = {
  documents: "/documents",
  tasks: "/tasks",
  dead: "/tasks",
  sources: "/sources",
  clients: "/clients",
  processes: "/processes",
  queues: "/queues",
  inlets: "/inlets",
  operations: "/operations",
};

/** Null for what has no page of its own: keys, sessions, workers, schedules, skipped mail. */
export function hrefOf(action: string, item: string): string | null {
  const place = PLACES[action.split(".")[0] ?? ""];
  // The id of a process is "name/number", and both are parts of the address.
  return place === undefined ? null : `${place}/${item.split("/").map(encodeURIComponent).join("/")}`;
}
