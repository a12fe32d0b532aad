/** Addresses inside the console: links, the query of the page, and its parameters. */

import { useLocation, useParams, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo, type AnchorHTMLAttributes, type MouseEvent } from "react";
import { at } from "../lib/prefix";
import { parseQuery, writeQuery, type Query } from "../lib/filters";

/** A link inside the console, by its path: `<A to="/queues/default">`. */
export function A({ to, onClick, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const go = useGo();
  const clicked = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain || (rest.target && rest.target !== "_self")) return;
    event.preventDefault();
    go(to);
  };
  return <a href={at(to)} onClick={clicked} {...rest} />;
}

/** Goes to a path of the console; with `replace` the back button does not return here. */
export function useGo(): (to: string, options?: { replace?: boolean }) => void {
  const router = useRouter();
  return useCallback(
    (to, options) => {
      if (options?.replace) router.history.replace(at(to));
      else router.history.push(at(to));
    },
    [router],
  );
}

/** A parameter of the route: `useParam("queue")`. */
export function useParam(name: string): string {
  const params = useParams({ strict: false }) as Record<string, string | undefined>;
  return params[name] ?? "";
}

/** The page's path below the prefix. */
export function usePath(): string {
  return useLocation({ select: (location) => location.pathname });
}

/** The query of the page, and how to change it; undefined removes a key. */
export function usePageQuery(): [Query, (change: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }) => void] {
  const search = useLocation({ select: (location) => location.searchStr });
  const path = usePath();
  const go = useGo();
  const query = useMemo(() => parseQuery(search), [search]);
  const change = useCallback(
    (next: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }) =>
      go(path + writeQuery({ ...parseQuery(location.search), ...next }), options),
    [go, path],
  );
  return [query, change];
}
