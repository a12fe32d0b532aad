/** Which rows are chosen: some of them by id, or all that match the filter. It stands in the URL as `sel`. */

export type Selection = { readonly all: true } | { readonly all: false; readonly ids: ReadonlySet<string> };

export const NONE: Selection = { all: false, ids: new Set() };
const MOST_IN_URL = 100;
/** The API takes this many ids in one operation. */
export const MOST_IDS = 10_000;

export function parseSelection(text: string | undefined): Selection {
  if (text === "all") return { all: true };
  return { all: false, ids: new Set((text ?? "").split(",").filter(Boolean).map(decode)) };
}

/** An id may be a name with a comma in it. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Undefined for nothing, and for more ids than fit into an address. */
export function writeSelection(selection: Selection): string | undefined {
  if (selection.all) return "all";
  return selection.ids.size === 0 || selection.ids.size > MOST_IN_URL ? undefined : [...selection.ids].map(encodeURIComponent).join(",");
}

export function has(selection: Selection, id: string): boolean {
  return selection.all || selection.ids.has(id);
}

/** Leaving one row out of "all" chooses the others that are loaded. */
export function toggled(selection: Selection, id: string, loaded: readonly string[]): Selection {
  const ids = new Set(selection.all ? loaded : selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { all: false, ids };
}

export function size(selection: Selection, total: number): number {
  return selection.all ? total : selection.ids.size;
}

/** All rows shown; where those are more than the API takes by their ids, all that match. */
export function everyOne(ids: readonly string[]): Selection {
  return ids.length > MOST_IDS ? { all: true } : { all: false, ids: new Set(ids) };
}

export function isTooLarge(selection: Selection): boolean {
  return !selection.all && selection.ids.size > MOST_IDS;
}
