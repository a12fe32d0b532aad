import { expect, test } from "vitest";
import type { Field } from "../lib/filters";
import { labelOf, suggestions } from "./suggestions";

const STATUS: Field = { name: "status", label: "status", options: ["failed", "indexed", "never_synced"] };
const TYPE: Field = { name: "mime_type", label: "type", options: [{ value: "application/pdf", label: "PDF" }, { value: "text/plain", label: "Text" }] };
const QUEUE: Field = { name: "queue", label: "queue", options: ["failover"], plain: true };
const TEXT: Field = { name: "q", label: "text", text: true };
const FIELDS = [STATUS, TYPE, QUEUE, TEXT];
const texts = (typed: string, fields: readonly Field[] = FIELDS) => suggestions(typed, fields).map((each) => each.text);

test("before anything is typed the fields are offered, without the one of free text", () => {
  expect(texts("")).toEqual(["status:", "mime_type:", "queue:"]);
  expect(texts("   ")).toEqual(texts(""));
});

test("a field is found by its name in the API and by its label on the page", () => {
  expect(texts("mime")).toEqual(["“mime”", "mime_type:"]);
  expect(suggestions("typ", [TYPE])).toEqual([{ text: "mime_type:", note: "type", typed: "mime_type:" }]);
});

test("after the colon the field's values are offered by their labels", () => {
  expect(texts("type:")).toEqual(["PDF", "Text"]);
  expect(texts("status:never")).toEqual(["never synced"]);
  expect(suggestions("type:pd", FIELDS)).toEqual([
    { text: "PDF", typed: "mime_type:application/pdf", token: { field: "mime_type", value: "application/pdf", excluded: false } },
  ]);
  expect(texts("nothing:x")).toEqual([]);
});

test("two letters offer values of every field, beside the text itself", () => {
  expect(texts("f")).toEqual(["“f”"]);
  expect(texts("fai")).toEqual(["“fai”", "status:failed", "queue:failover"]);
  expect(texts("pd")).toEqual(["“pd”", "mime_type:application/pdf"]);
});

test.each(["!", "-"])("%s excludes, where the field can be excluded", (sign) => {
  const tokens = suggestions(`${sign}fai`, FIELDS).map((each) => each.token);
  expect(tokens.slice(1)).toEqual([
    { field: "status", value: "failed", excluded: true },
    { field: "queue", value: "failover", excluded: false },
  ]);
  expect(suggestions(`${sign}status:ind`, FIELDS)[0]?.token).toEqual({ field: "status", value: "indexed", excluded: true });
  expect(texts(`${sign}stat`)).toContain("!status:");
});

test("spaces around what was typed do not belong to it", () => {
  expect(suggestions("  mill race ", FIELDS)[0]).toEqual({
    text: "“mill race”",
    note: "text",
    typed: "mill race",
    token: { field: "q", value: "mill race", excluded: false },
  });
  expect(texts(" status: fai ")).toEqual(["failed"]);
});

test("values with the same label stay apart", () => {
  const twins: Field = { name: "source_id", label: "source", options: [{ value: "1", label: "Drive" }, { value: "2", label: "Drive" }] };
  expect(new Set(suggestions("source:", [twins]).map((each) => each.typed)).size).toBe(2);
});

test("no more is offered than a list without a scroll bar holds", () => {
  const many: Field = { name: "tag", label: "tag", options: Array.from({ length: 50 }, (_, n) => `tag-${n}`) };
  expect([texts("tag:", [many]).length, texts("tag", [many]).length]).toEqual([12, 12]);
});

test("a value is called by the label of its option, or by its word; free text stays as it is", () => {
  expect(labelOf(TYPE, "application/pdf")).toBe("PDF");
  expect(labelOf(TYPE, "image/x_raw")).toBe("image/x raw");
  expect(labelOf(STATUS, "never_synced")).toBe("never synced");
  expect(labelOf(TEXT, "never_synced")).toBe("never_synced");
});
