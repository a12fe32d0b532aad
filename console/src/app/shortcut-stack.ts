/** What a key does: single keys and pairs ("g d"), those of the newest component first. */

export type Keys = Readonly<Record<string, () => void>>;

/** So long after its first key a pair is still one. */
const PAIR_MS = 1500;

export class ShortcutStack {
  private readonly held: { readonly current: Keys }[] = [];
  private first: { readonly key: string; readonly at: number } | null = null;

  /** Those of the frame come after those of any page. Returns how to take them away again. */
  add(keys: { readonly current: Keys }, ofFrame: boolean): () => void {
    if (ofFrame) this.held.unshift(keys);
    else this.held.push(keys);
    return () => void this.held.splice(this.held.indexOf(keys), 1);
  }

  /** What to run for a key that was pressed at this time in milliseconds. */
  pressed(key: string, at: number): (() => void) | null {
    const pair = this.first && at - this.first.at < PAIR_MS ? `${this.first.key} ${key}` : null;
    this.first = { key, at };
    for (let index = this.held.length - 1; index >= 0; index--) {
      const keys = this.held[index]?.current ?? {};
      const run = (pair !== null ? keys[pair] : undefined) ?? keys[key];
      if (run) {
        this.first = null;
        return run;
      }
    }
    return null;
  }
}
