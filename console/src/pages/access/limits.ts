/** Limits as people type them. */

/** Null for an empty field, which means the default; separators are allowed. */
export function limitOf(typed: string): number | null {
  const digits = typed.replace(/[\s,]/g, "");
  return digits === "" ? null : Number(digits);
}

export function writtenLimit(limit: number | null): string {
  return limit === null ? "" : new Intl.NumberFormat("en-GB").format(limit);
}
