/** Pages of a keyset list, joined: each row once, the newest version of it, in the order of the pages. */

export interface Page<Row> {
  readonly items: readonly Row[];
  readonly cursor?: string | null;
}

export function joined<Row>(pages: readonly Page<Row>[], key: (row: Row) => string): Row[] {
  // A row that moved between two fetches is in both pages: it stays where it was seen first, as it was seen last.
  const found = new Map<string, Row>();
  for (const page of pages) for (const row of page.items) found.set(key(row), row);
  return [...found.values()];
}
