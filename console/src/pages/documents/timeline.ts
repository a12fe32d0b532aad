/** The timeline of a document: how long each part is drawn, and how much of it was work. */

export interface Step {
  readonly kind: "work" | "wait" | "event";
  readonly stage: string;
  readonly from: string;
  readonly to?: string | null;
  readonly seconds: number;
  readonly attempt?: number | null;
  readonly worker?: string | null;
  readonly reason_code?: string | null;
  readonly message?: string | null;
  readonly remedy?: string | null;
  readonly versions?: Readonly<Record<string, string | null | undefined>> | null;
}

/** The stage as the rest of the page calls it. */
export function stageName(stage: string): string {
  return stage === "taken_in" ? "received" : stage.replaceAll("_", " ");
}

/** A step that has not ended lasts until now. */
export function grown(step: Step, now: Date): Step {
  if (step.kind === "event" || step.to) return step;
  return { ...step, seconds: Math.max(step.seconds, (now.getTime() - Date.parse(step.from)) / 1000) };
}

export interface Totals {
  readonly working: number;
  readonly waiting: number;
}

export function totals(steps: readonly Step[]): Totals {
  const sum = (kind: Step["kind"]) => steps.reduce((all, step) => (step.kind === kind ? all + Math.max(0, step.seconds) : all), 0);
  return { working: sum("work"), waiting: sum("wait") };
}

/**
 * The share of the bar for each step, in per cent. By the square root of the time, so that a second of work stays
 * visible beside a night of waiting; an event takes no room.
 */
export function shares(steps: readonly Step[]): number[] {
  const sizes = steps.map((step) => (step.kind === "event" ? 0 : Math.sqrt(Math.max(0.01, step.seconds))));
  const whole = sizes.reduce((all, size) => all + size, 0);
  return whole === 0 ? sizes : sizes.map((size) => (100 * size) / whole);
}

/** What changed between two attempts, such as another parser or a newer release. */
export function changedVersions(before: Step | undefined, after: Step): string[] {
  const [old, now] = [before?.versions ?? {}, after.versions ?? {}];
  return Object.keys(now).filter((name) => old[name] && now[name] && old[name] !== now[name]);
}
