/** A search and its settings as they stand in the URL: `q`, and one side's settings under `a.` and `b.`. */

import type { Query } from "../../lib/filters";

export type Mode = "hybrid" | "vector" | "text";

/** What one side of the playground searches with. */
export interface Setting {
  readonly mode: Mode;
  readonly limit: number;
  readonly minScore: number | null;
  readonly project: string | null;
  readonly type: string | null;
  readonly embedder: string | null;
}

export type Side = "a" | "b";
const MODES: readonly Mode[] = ["hybrid", "vector", "text"];

export function settingOf(query: Query, side: Side): Setting {
  const of = (name: string) => query[`${side}.${name}`] ?? null;
  const limit = Number(of("limit") ?? 10);
  const least = of("min");
  return {
    mode: MODES.find((mode) => mode === of("mode")) ?? "hybrid",
    limit: Number.isInteger(limit) && limit >= 1 && limit <= 100 ? limit : 10,
    minScore: least !== null && Number(least) >= 0 && Number(least) <= 1 ? Number(least) : null,
    project: of("project"),
    type: of("type"),
    embedder: of("embedder"),
  };
}

/** The change to the page's query; defaults are left out of the address. */
export function written(side: Side, setting: Partial<Setting>): Record<string, string | undefined> {
  const changes: Record<string, string | undefined> = {};
  const put = (name: string, value: string | number | null | undefined, standard: unknown) => {
    if (value !== undefined) changes[`${side}.${name}`] = value === null || value === standard ? undefined : String(value);
  };
  put("mode", setting.mode, "hybrid");
  put("limit", setting.limit, 10);
  put("min", setting.minScore, null);
  put("project", setting.project, null);
  put("type", setting.type, null);
  put("embedder", setting.embedder, null);
  return changes;
}

/** The body of POST /v1/search. */
export function bodyOf(words: string, setting: Setting): Record<string, unknown> {
  return {
    query: words,
    mode: setting.mode,
    limit: setting.limit,
    explain: true,
    ...(setting.minScore === null ? {} : { min_score: setting.minScore }),
    ...(setting.project === null ? {} : { projects: [setting.project] }),
    ...(setting.type === null ? {} : { types: [setting.type] }),
    ...(setting.embedder === null ? {} : { embedder: setting.embedder }),
  };
}

export interface Ranked {
  readonly chunk_id?: string | null;
  readonly client_id?: string | null;
}

export const keyOf = (hit: Ranked) => hit.chunk_id ?? hit.client_id ?? "";

/** Where a hit is on the other side: how many places it moved (positive: up here), "new", or nothing to compare. */
export function moved(hit: Ranked, place: number, others: readonly Ranked[] | undefined): number | "new" | null {
  if (!others) return null;
  const there = others.findIndex((other) => keyOf(other) === keyOf(hit));
  return there < 0 ? "new" : there - place;
}
