/** The order of a list as it stands in the URL: `sort=name`, or `sort=-name` from the largest down. */

export type SortValue = string | number | null | undefined;

export interface Sort {
  readonly key: string;
  readonly down: boolean;
}

export function parseSort(text: string | undefined): Sort | null {
  if (!text || text === "-") return null;
  return text.startsWith("-") ? { key: text.slice(1), down: true } : { key: text, down: false };
}

/** After a click on a column: up, down, and back to the list's own order. */
export function nextSort(sort: Sort | null, key: string): string | undefined {
  if (sort?.key !== key) return key;
  return sort.down ? undefined : `-${key}`;
}

/** The rows in order; those without a value are last either way, equal ones stay as they were. */
export function sortedBy<Row>(rows: readonly Row[], value: (row: Row) => SortValue, down: boolean): Row[] {
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1;
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return down ? -order : order;
  });
}
