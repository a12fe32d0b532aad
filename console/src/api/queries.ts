/** Queries that live: each says by which names of the event stream it is fetched again. Nothing is fetched while nothing changes. */

import {
  hashKey,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type Query,
  type QueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { joined, type Page } from "../lib/keyset";
import { chosenTenant, get, type ApiError } from "./client";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ApiError;
    queryMeta: { live?: readonly string[] };
  }
}

export interface LiveOptions {
  /** Names of the event stream that make this answer stale: `["queues", "tasks"]`. */
  readonly live?: readonly string[];
  readonly enabled?: boolean;
  readonly query?: Readonly<Record<string, unknown>>;
}

/** One GET, kept fresh: `useApi<Reply<"/v1/queues">>("/v1/queues", { live: ["queues"] })`. */
export function useApi<T>(path: string, options: LiveOptions = {}): UseQueryResult<T, ApiError> {
  return useQuery<T, ApiError>({
    queryKey: [path, options.query ?? {}, chosenTenant()],
    queryFn: ({ signal }) => get<T>(path, options.query, signal),
    meta: { live: options.live ?? [] },
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
  });
}

export interface Listed<Row> extends Page<Row> {
  readonly total?: number | null;
  readonly approximate?: boolean;
}

export interface Rows<Row> {
  readonly rows: Row[];
  readonly total: number | null;
  readonly approximate: boolean;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  /** The first page is on its way and there is nothing to show. */
  readonly isPending: boolean;
  readonly isFetchingMore: boolean;
  /** So much is loaded that changes are not fetched by themselves: `restart` shows the list from its beginning. */
  readonly hasChanged: boolean;
  readonly restart: () => void;
  readonly error: ApiError | null;
  readonly refetch: () => void;
}

const ROWS = "rows";
const DEEP = 5;

const isDeep = (data: unknown) => ((data as { pages?: readonly unknown[] } | undefined)?.pages?.length ?? 0) > DEEP;

/**
 * Fetches again what is shown and lives by one of the names. A list scrolled down many pages is only marked: it would
 * be fetched page by page, and rows would move below the reader's eyes.
 */
export function refresh(client: QueryClient, names: ReadonlySet<string>): void {
  const deep = (query: Query) => query.queryKey[1] === ROWS && isDeep(query.state.data);
  const gone = (query: Query) => [...deleted].some((path) => String(query.queryKey[0]).startsWith(path));
  const touched = (query: Query) => touches(query.meta?.live ?? [], names) && !gone(query);
  void client.invalidateQueries({ predicate: (query) => touched(query) && !deep(query) });
  // A first answer that is on its way may have been read before the change, and is not asked for twice: ask when it is here.
  for (const query of client.getQueryCache().findAll({ fetchStatus: "fetching", predicate: touched })) {
    if (query.state.data !== undefined || late.has(query)) continue;
    late.add(query);
    const again = () => {
      late.delete(query);
      void client.invalidateQueries({ predicate: (each) => each === query });
    };
    void query.promise?.then(again, again);
  }
  const marked = client.getQueryCache().findAll({ predicate: (query) => touched(query) && deep(query) });
  for (const query of marked) for (const listener of marks) listener(query.queryHash);
}

/** Paths of what the page has deleted or is about to: the event stream may tell of it before the answer is here. */
const deleted = new Set<string>();
const late = new WeakSet<Query>();
const marks = new Set<(queryHash: string) => void>();

/** Whether a deep list was marked as changed; a new key, or `clear`, begins again. */
function useMark(queryKey: readonly unknown[]): [boolean, () => void] {
  const hash = hashKey(queryKey);
  const [marked, setMarked] = useState("");
  useEffect(() => {
    const listener = (changed: string) => {
      if (changed === hash) setMarked(hash);
    };
    marks.add(listener);
    return () => void marks.delete(listener);
  }, [hash]);
  return [marked === hash, () => setMarked("")];
}

/** A keyset list, page after page: the answer has `cursor`, and its rows in `items` or where `rowsIn` says. */
export function useRows<Row>(path: string, key: (row: Row) => string, options: LiveOptions & { rowsIn?: string } = {}): Rows<Row> {
  const client = useQueryClient();
  const queryKey = [path, ROWS, options.query ?? {}, chosenTenant()];
  const found = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }): Promise<Listed<Row>> => {
      const answer = await get<Listed<Row>>(path, { ...options.query, ...(pageParam ? { cursor: pageParam } : {}) }, signal);
      if (!options.rowsIn) return answer;
      return { ...answer, items: (answer as unknown as Record<string, Row[]>)[options.rowsIn] ?? [] };
    },
    initialPageParam: "",
    getNextPageParam: (last: Listed<Row>) => last.cursor ?? undefined,
    meta: { live: options.live ?? [] },
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
  });
  const [marked, clearMark] = useMark(queryKey);
  const pages = found.data?.pages ?? [];
  // Joined once per answer: a page with 40,000 rows is drawn again on every scroll.
  const rows = useMemo(() => joined(found.data?.pages ?? [], key), [found.data]);
  return {
    rows,
    // A list without further pages is whole.
    total: pages[0]?.total ?? (pages[0] && !found.hasNextPage ? rows.length : null),
    approximate: pages[0]?.approximate ?? false,
    hasMore: found.hasNextPage,
    loadMore: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
    },
    isPending: found.isPending,
    isFetchingMore: found.isFetchingNextPage,
    hasChanged: marked && isDeep(found.data),
    restart: () => {
      clearMark();
      void client.resetQueries({ queryKey, exact: true });
    },
    error: found.error as ApiError | null,
    refetch: () => void found.refetch(),
  };
}

/**
 * An action; afterwards everything shown that has one of the names is fetched again. Nothing at the path that it deletes is:
 * the page is left.
 */
export function useAction<T, Argument = void>(
  run: (argument: Argument) => Promise<T>,
  changes: readonly string[],
  onDone?: (answer: T, argument: Argument) => void,
  deletes?: string,
): UseMutationResult<T, ApiError, Argument> {
  const client = useQueryClient();
  return useMutation<T, ApiError, Argument>({
    mutationFn: run,
    onMutate: () => {
      if (deletes) deleted.add(deletes);
    },
    onError: () => {
      if (deletes && deleted.delete(deletes)) refresh(client, new Set(changes));
    },
    onSuccess: (answer, argument) => {
      refresh(client, new Set(changes));
      onDone?.(answer, argument);
    },
  });
}

/** Whether one of the names a query lives by is among those that changed; `*` is everything. */
export function touches(live: readonly string[], changed: ReadonlySet<string>): boolean {
  return changed.has("*") ? live.length > 0 : live.some((name) => changed.has(name));
}
