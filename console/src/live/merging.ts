/** Collects names of changes and passes them on together, at once when it was quiet and at most twice a second. */

export class Merging {
  private readonly names = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private last = -Infinity;
  private held = false;

  constructor(
    private readonly pass: (names: ReadonlySet<string>) => void,
    private readonly everyMs = 500,
    private readonly now: () => number = () => performance.now(),
  ) {}

  add(names: Iterable<string>): void {
    for (const name of names) this.names.add(name);
    this.plan();
  }

  /** While held, names are kept; afterwards they are passed on at once. */
  hold(held: boolean): void {
    this.held = held;
    if (held && this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    this.plan();
  }

  get waiting(): number {
    return this.names.size;
  }

  private plan(): void {
    if (this.held || this.timer !== null || this.names.size === 0) return;
    const wait = Math.max(0, this.last + this.everyMs - this.now());
    if (wait === 0) this.flush();
    else this.timer = setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    this.timer = null;
    this.last = this.now();
    const names = new Set(this.names);
    this.names.clear();
    this.pass(names);
  }
}
