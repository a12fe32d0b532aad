/** What a document is called. */

import type { Schemas } from "../../api/client";

type Named = Pick<Schemas["Document"], "document_id" | "path" | "filename" | "title">;

/** Its path or file name, which people look for; else its title. */
export function nameOf(document: Named): string {
  return document.path || document.filename || document.title || document.document_id;
}

/** "p. 3", "pp. 3–5", or nothing for a document without pages. */
export function pagesOf(from: number | null | undefined, to: number | null | undefined): string {
  if (from === null || from === undefined) return "";
  return to && to > from ? `pp. ${from}–${to}` : `p. ${from}`;
}
