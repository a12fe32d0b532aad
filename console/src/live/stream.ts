/** One EventSource for any number of listeners; what a listener gets is in `Told`. */

export type Told = { readonly state: "open" | "closed" } | { readonly names: readonly string[] };
export type Listener = (told: Told) => void;

export class Streams {
  private readonly open = new Map<string, { source: EventSource; listeners: Set<Listener>; state: "open" | "closed" }>();
  /** Those the server refused, which the browser gives up: its listeners have to ask again. */
  private readonly refused = new Set<string>();

  listen(url: string, listener: Listener): void {
    let stream = this.open.get(url);
    if (!stream) {
      const made = { source: new EventSource(url), listeners: new Set<Listener>(), state: "closed" as "open" | "closed" };
      const tell = (told: Told) => made.listeners.forEach((each) => each(told));
      let before = this.refused.delete(url);
      made.source.onopen = () => {
        made.state = "open";
        tell({ state: "open" });
        // What happened while it was cut is unknown: everything shown is fetched again.
        if (before) tell({ names: ["*"] });
        before = true;
      };
      made.source.onerror = () => {
        made.state = "closed";
        tell({ state: "closed" });
        if (made.source.readyState === EventSource.CLOSED) {
          this.open.delete(url);
          this.refused.add(url);
        }
      };
      made.source.addEventListener("changed", (event) => {
        const names = namesIn((event as MessageEvent<string>).data);
        if (names.length) tell({ names });
      });
      stream = made;
      this.open.set(url, made);
    }
    stream.listeners.add(listener);
    listener({ state: stream.state });
  }

  leave(url: string, listener: Listener): void {
    const stream = this.open.get(url);
    if (!stream) return;
    stream.listeners.delete(listener);
    if (stream.listeners.size === 0) {
      stream.source.close();
      this.open.delete(url);
    }
  }
}

export function namesIn(data: string): string[] {
  try {
    const told = JSON.parse(data) as { names?: unknown };
    return Array.isArray(told.names) ? told.names.filter((name): name is string => typeof name === "string") : [];
  } catch {
    return [];
  }
}
