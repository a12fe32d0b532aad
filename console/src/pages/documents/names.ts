/** What a document is called. */

type Named = { [Part in "path" | "filename" | "title"]?: string | null } & { document_id?: string | null };

/** Its path or file name, which people look for; else its title. */
export function nameOf(document: Named): string {
  return document.path || document.filename || document.title || document.document_id || "untitled";
}

/** A path in two parts, so that what is cut off for want of room is the folder: "report.pdf" in "/in/2026". */
export function partsOf(document: Named): { name: string; folder: string } {
  const whole = nameOf(document);
  const at = document.path ? whole.replace(/\/+$/, "").lastIndexOf("/") : -1;
  return at < 0 ? { name: whole, folder: "" } : { name: whole.slice(at + 1), folder: whole.slice(0, at) || "/" };
}

/** "p. 3", "pp. 3–5", or nothing for a document without pages. */
export function pagesOf(from: number | null | undefined, to: number | null | undefined): string {
  if (from === null || from === undefined) return "";
  return to && to > from ? `pp. ${from}–${to}` : `p. ${from}`;
}
