import { expect, test } from "vitest";
import { filterOf, parseQuery, parseTyped, tokensOf, withoutToken, withToken, writeQuery, type Field } from "./filters";

const STATUS: Field = { name: "status", label: "status", options: ["failed", "indexed"] };
const PROJECT: Field = { name: "project", label: "project", single: true };
const PLAIN: Field = { name: "queue", label: "queue", plain: true };
const TEXT: Field = { name: "q", label: "text", text: true };
const FIELDS = [STATUS, PROJECT, PLAIN, TEXT];

test("a query survives being written and read", () => {
  const query = { status: "failed,!skipped", q: "a&b=c, ünï %20 +", project: "x:y" };
  expect(parseQuery(writeQuery(query))).toEqual(query);
});

test("equal filters have equal addresses", () => {
  expect(writeQuery({ b: "2", a: "1" })).toBe(writeQuery({ a: "1", b: "2" }));
  expect(writeQuery({ a: undefined, b: null, c: "" })).toBe("");
});

test("a field given twice has both values", () => {
  expect(parseQuery("?status=failed&status=!indexed")).toEqual({ status: "failed,!indexed" });
});

test("tokens are read with their exclusions, and empty ones are dropped", () => {
  expect(tokensOf({ status: "failed,!skipped,,!" }, FIELDS)).toEqual([
    { field: "status", value: "failed", excluded: false },
    { field: "status", value: "skipped", excluded: true },
  ]);
});

test("text keeps its commas and exclamation marks", () => {
  expect(tokensOf({ q: "!important, yes" }, FIELDS)).toEqual([{ field: "q", value: "!important, yes", excluded: false }]);
});

test("a token replaces its own opposite", () => {
  const query = withToken({ status: "failed" }, STATUS, { field: "status", value: "failed", excluded: true });
  expect(query).toEqual({ status: "!failed" });
});

test("a single field keeps the last value only", () => {
  expect(withToken({ project: "a" }, PROJECT, { field: "project", value: "b", excluded: false })).toEqual({ project: "b" });
});

test("removing the last token removes the key", () => {
  const query = { status: "!failed", q: "x" };
  expect(withoutToken(query, STATUS, { field: "status", value: "failed", excluded: true })).toEqual({ q: "x" });
});

test.each([
  ["status:failed", { field: "status", value: "failed", excluded: false }],
  ["!status:failed", { field: "status", value: "failed", excluded: true }],
  ["-status:failed", { field: "status", value: "failed", excluded: true }],
  ["status:!failed", { field: "status", value: "failed", excluded: true }],
  ["!queue:a", { field: "queue", value: "a", excluded: false }],
  ["unknown:thing", { field: "q", value: "unknown:thing", excluded: false }],
  ["two words", { field: "q", value: "two words", excluded: false }],
  ["  ", null],
  ["status:", { field: "q", value: "status:", excluded: false }],
])("what is typed as %s is understood", (typed, token) => {
  expect(parseTyped(typed, FIELDS)).toEqual(token);
});

test("the API gets the fields of the list and nothing of the page", () => {
  expect(filterOf({ status: "failed", sel: "all", sort: "oldest" }, FIELDS)).toEqual({ status: "failed" });
});

test("a field and a value are found by the words the page shows for them", () => {
  const type: Field = { name: "mime_type", label: "type", options: [{ value: "application/pdf", label: "PDF" }] };
  const pdf = { field: "mime_type", value: "application/pdf", excluded: false };
  expect(parseTyped("type:pdf", [type])).toEqual(pdf);
  expect(parseTyped("mime_type:application/pdf", [type])).toEqual(pdf);
  expect(parseTyped("-Type:PDF", [type])).toEqual({ ...pdf, excluded: true });
  expect(parseTyped("type:text/x-log", [type])).toEqual({ ...pdf, value: "text/x-log" });
});
