/** Addresses inside the console: where we are, links, the query of the page, and its parameters. */

import { createContext, useCallback, useContext, useMemo, type AnchorHTMLAttributes, type MouseEvent } from "react";
import { at, prefix } from "../lib/prefix";
import { parseQuery, writeQuery, type Query } from "../lib/filters";
import { below } from "../lib/routes";

export interface Address {
  /** Below the prefix the console is mounted behind. */
  readonly path: string;
  readonly search: string;
}

export function currentAddress(): Address {
  return { path: below(prefix, location.pathname), search: location.search };
}

const listeners = new Set<() => void>();

/** Calls the listener after every change of the address, by a link or by the back button. */
export function onAddress(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

function go(to: string, options?: { replace?: boolean }): void {
  const before = location.pathname;
  if (options?.replace) history.replaceState(null, "", at(to));
  else history.pushState(null, "", at(to));
  for (const listener of listeners) listener();
  if (!options?.replace && location.pathname !== before) {
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

export const AddressContext = createContext<Address & { readonly params: Readonly<Record<string, string>> }>({
  path: "/",
  search: "",
  params: {},
});

/** A link inside the console, by its path: `<A to="/queues/default">`. */
export function A({ to, onClick, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
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
  return go;
}

/** A parameter of the route: `useParam("queue")`. */
export function useParam(name: string): string {
  return useContext(AddressContext).params[name] ?? "";
}

/** The page's path below the prefix. */
export function usePath(): string {
  return useContext(AddressContext).path;
}

/** The query of the page, and how to change it; undefined removes a key. */
export function usePageQuery(): [Query, (change: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }) => void] {
  const { search, path } = useContext(AddressContext);
  const query = useMemo(() => parseQuery(search), [search]);
  const change = useCallback(
    (next: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }) =>
      // Of the address as it is now: two changes in one event must not undo each other.
      go(path + writeQuery({ ...parseQuery(location.search), ...next }), options),
    [path],
  );
  return [query, change];
}
