/** A form made from a payload's JSON schema; what it cannot draw is typed as JSON. */

import type { JsonSchema } from "../../api/operate";

export type Draft = Readonly<Record<string, string>>;

interface Drawn {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly kind: "text" | "number" | "boolean" | "choice" | "json";
  readonly required: boolean;
}

/** The fields of a payload, those that are required first; null if the schema is not of an object with named properties. */
export function fieldsOf(schema: JsonSchema | null): Drawn[] | null {
  if (!schema?.properties) return null;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    const whole = resolved(property, schema.$defs ?? {});
    return { name, schema: whole, kind: kindOf(whole), required: required.has(name) };
  });
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** A property with what it refers to in it: an enum is a definition of its own, also where it may be null. */
function resolved(property: JsonSchema, defs: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const others = (property.anyOf ?? property.allOf ?? []).filter((each) => each.type !== "null");
  const ref = property.$ref ?? (others.length === 1 ? others[0]?.$ref : undefined);
  const found = ref?.startsWith("#/$defs/") ? defs[ref.slice(8)] : undefined;
  if (!found) return property;
  const { $ref: _ref, anyOf: _any, allOf: _all, ...own } = property;
  return { ...found, ...own };
}

function kindOf(schema: JsonSchema): Drawn["kind"] {
  if (schema.enum) return "choice";
  const types = schema.anyOf ? schema.anyOf.map((each) => each.type) : [schema.type].flat();
  const kinds = types.filter((type) => type !== "null");
  if (kinds.length !== 1) return "json";
  switch (kinds[0]) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "json";
  }
}

/** The payload the draft says; throws a SyntaxError that names the field. Empty optional fields are left out. */
export function payloadOf(fields: readonly Drawn[], draft: Draft): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const { name, kind, required, schema } of fields) {
    const given = draft[name] ?? (schema.default === undefined || schema.default === null ? "" : textOf(schema.default));
    if (given === "" && !(required && kind === "text")) continue;
    if (kind === "number") payload[name] = Number(given);
    else if (kind === "boolean") payload[name] = given === "true";
    else if (kind === "choice") payload[name] = (schema.enum ?? []).find((value) => textOf(value) === given) ?? given;
    else if (kind === "json") payload[name] = parsed(name, given);
    else payload[name] = given;
  }
  return payload;
}

function parsed(name: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new SyntaxError(`${name} is not JSON. Text needs quotes: "…"`);
  }
}

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

export function SchemaForm({ fields, draft, onChange }: { fields: readonly Drawn[]; draft: Draft; onChange: (draft: Draft) => void }) {
  if (fields.length === 0) return <p className="quiet">This task needs no payload.</p>;
  return (
    <>
      {fields.map(({ name, schema, kind, required }) => {
        const value = draft[name] ?? (schema.default === undefined || schema.default === null ? "" : textOf(schema.default));
        const set = (next: string) => onChange({ ...draft, [name]: next });
        return (
          <label key={name} className="field">
            <span>
              {schema.title && schema.title.toLowerCase() !== name.replaceAll("_", " ") ? `${schema.title} ` : ""}
              <code>{name}</code>
              {required ? "" : <span className="quiet"> (optional)</span>}
            </span>
            {kind === "choice" ? (
              <select value={value} required={required} onChange={(event) => set(event.target.value)}>
                <option value="">choose</option>
                {(schema.enum ?? []).map((option) => (
                  <option key={textOf(option)} value={textOf(option)}>
                    {textOf(option)}
                  </option>
                ))}
              </select>
            ) : kind === "boolean" ? (
              <select value={value} onChange={(event) => set(event.target.value)}>
                <option value="">{required ? "choose" : "not set"}</option>
                <option value="true">yes</option>
                <option value="false">no</option>
              </select>
            ) : kind === "json" ? (
              <textarea value={value} rows={3} required={required} spellCheck={false} onChange={(event) => set(event.target.value)} />
            ) : (
              <input
                type={kind === "number" ? "number" : "text"}
                step="any"
                value={value}
                required={required}
                placeholder={schema.format === "uuid" ? "00000000-0000-…" : ""}
                onChange={(event) => set(event.target.value)}
              />
            )}
            {schema.description ? <span className="quiet small">{schema.description}</span> : null}
          </label>
        );
      })}
    </>
  );
}
