/** Small choices of this browser (theme, tenant, time zone), shared by its tabs. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

export function stored(name: string): string | null {
  try {
    return localStorage.getItem(`penstock.${name}`);
  } catch {
    return null; // storage is off: the choice lasts as long as the page
  }
}

export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`penstock.${name}`);
    else localStorage.setItem(`penstock.${name}`, value);
  } catch {
    // the same
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

export function useStored(name: string): [string | null, (value: string | null) => void] {
  const value = useSyncExternalStore(subscribe, () => stored(name));
  return [value, (next) => store(name, next)];
}
