/** The path the console is mounted behind, and the addresses below it. */

export const prefix: string =
  typeof document === "undefined"
    ? ""
    : (document.querySelector<HTMLMetaElement>('meta[name="penstock-prefix"]')?.content ?? "").replace(/\/+$/, "");

/** The address of a path of ours: `at("/v1/queues")`. */
export function at(path: string): string {
  return prefix + path;
}
