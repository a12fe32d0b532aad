/** Keeps what the page shows fresh: names from the event stream make the queries that live by them stale. */

import { useSyncExternalStore } from "react";
import type { QueryClient } from "@tanstack/react-query";
import { refresh } from "../api/queries";
import { withTenant } from "../api/client";
import { Merging } from "./merging";
import { Streams, type Listener, type Told } from "./stream";

export type LiveState = "live" | "connecting" | "paused";
const POLL_MS = 15_000;

let state: LiveState = "connecting";
let paused = false;
let client: QueryClient | null = null;
const watchers = new Set<() => void>();
const merging = new Merging((names) => {
  if (client) refresh(client, names);
});

function turn(next: LiveState): void {
  if (next === state) return;
  state = next;
  for (const watcher of watchers) watcher();
}

const hear: Listener = (told: Told) => {
  if ("names" in told) merging.add(told.names);
  else if (!paused) turn(told.state === "open" ? "live" : "connecting");
};

let watch: (url: string | null) => void = () => undefined;

function connect(): void {
  if (typeof SharedWorker !== "undefined") {
    try {
      const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "penstock-live" });
      worker.port.onmessage = (event: MessageEvent<Told>) => hear(event.data);
      worker.port.start();
      watch = (url) => worker.port.postMessage({ url: url && new URL(url, location.href).href });
      return;
    } catch {
      // a browser that refuses shared workers here: a stream of this tab's own
    }
  }
  const streams = new Streams();
  let current: string | null = null;
  watch = (url) => {
    if (current !== null && current !== url) streams.leave(current, hear);
    current = url;
    if (url !== null) streams.listen(url, hear);
  };
}

function follow(): void {
  const shown = document.visibilityState === "visible" && !paused;
  watch(shown ? withTenant("/v1/events") : null);
}

export function startLive(queries: QueryClient): void {
  client = queries;
  connect();
  follow();
  document.addEventListener("visibilitychange", () => {
    follow();
    // What happened while the tab was hidden is unknown.
    if (document.visibilityState === "visible" && !paused) merging.add(["*"]);
  });
  window.addEventListener("pagehide", () => watch(null));
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) follow();
  });
  setInterval(() => {
    if (state !== "connecting" || document.visibilityState !== "visible") return;
    // A stream that the server refused is opened again; one on its way stays.
    follow();
    merging.add(["*"]);
  }, POLL_MS);
}

/** After the tenant was switched. */
export const reconnect = follow;

export function setPaused(next: boolean): void {
  paused = next;
  merging.hold(next);
  turn(next ? "paused" : "connecting");
  follow();
  if (!next) merging.add(["*"]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => state,
  );
}
