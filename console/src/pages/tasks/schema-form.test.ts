import { expect, test } from "vitest";
import { fieldsOf, payloadOf } from "./schema-form";

const SCHEMA = {
  type: "object",
  properties: {
    document_id: { type: "string", format: "uuid" },
    pages: { type: "integer" },
    force: { type: "boolean", default: false },
    mode: { enum: ["fast", "good"] },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    tags: { type: "array" },
  },
  required: ["document_id"],
} as const;

test("every property becomes a field of its kind", () => {
  expect(fieldsOf(SCHEMA)?.map((field) => field.kind)).toEqual(["text", "number", "boolean", "choice", "text", "json"]);
});

test("empty optional fields are left out of the payload", () => {
  const fields = fieldsOf(SCHEMA) ?? [];
  expect(payloadOf(fields, { document_id: "x" })).toEqual({ document_id: "x", force: false });
});

test("values have the types of the schema", () => {
  const fields = fieldsOf(SCHEMA) ?? [];
  const draft = { document_id: "x", pages: "3", force: "true", mode: "good", tags: '["a"]', note: "n" };
  expect(payloadOf(fields, draft)).toEqual({ document_id: "x", pages: 3, force: true, mode: "good", tags: ["a"], note: "n" });
});

test("what is not JSON is refused by its name", () => {
  expect(() => payloadOf(fieldsOf(SCHEMA) ?? [], { document_id: "x", tags: "a" })).toThrow(/tags is not JSON/);
});

test("a schema without properties has no form", () => {
  expect(fieldsOf({ type: "object" })).toBeNull();
  expect(fieldsOf(null)).toBeNull();
});

test("an enum that is a definition of its own is a choice, and required fields come first", () => {
  const fields = fieldsOf({
    type: "object",
    $defs: { Colour: { enum: ["red", "blue"], type: "string" } },
    properties: {
      tags: { type: "array" },
      colour: { $ref: "#/$defs/Colour", default: "red" },
      other: { anyOf: [{ $ref: "#/$defs/Colour" }, { type: "null" }] },
      month: { type: "string" },
      lost: { $ref: "#/$defs/Missing" },
    },
    required: ["month"],
  });
  expect(fields?.map((field) => [field.name, field.kind])).toEqual([
    ["month", "text"],
    ["tags", "json"],
    ["colour", "choice"],
    ["other", "choice"],
    ["lost", "json"],
  ]);
  expect(fields?.[2]?.schema.enum).toEqual(["red", "blue"]);
  expect(payloadOf(fields ?? [], { month: "2026-01" })).toEqual({ month: "2026-01", colour: "red" });
});
