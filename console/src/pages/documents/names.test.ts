import { expect, test } from "vitest";
import { nameOf, pagesOf, partsOf } from "./names";

test("a document is called by its path, file name or title, whichever it has", () => {
  expect(nameOf({ document_id: "1", path: "/in/a.pdf", filename: "a.pdf", title: "A" })).toBe("/in/a.pdf");
  expect(nameOf({ document_id: "1", path: null, filename: null, title: "A" })).toBe("A");
  expect(nameOf({ document_id: "1" })).toBe("1");
  expect(nameOf({})).toBe("untitled");
});

test("of a path the file name comes first, and the folder is apart", () => {
  expect(partsOf({ path: "/in/2026/report.pdf" })).toEqual({ name: "report.pdf", folder: "/in/2026" });
  expect(partsOf({ path: "/report.pdf" })).toEqual({ name: "report.pdf", folder: "/" });
  expect(partsOf({ path: "report.pdf" })).toEqual({ name: "report.pdf", folder: "" });
  expect(partsOf({ filename: "50/50.txt" })).toEqual({ name: "50/50.txt", folder: "" });
});

test("pages are a range only where there are several", () => {
  expect([pagesOf(3, 3), pagesOf(3, 5), pagesOf(null, null)]).toEqual(["p. 3", "pp. 3–5", ""]);
});
