/**
 * Filters as they stand in the URL: one key per field, several values separated by commas, and an excluded value
 * with an exclamation mark in front (`status=failed,!skipped&q=invoice`). The API takes the same words.
 */

export type Query = Readonly<Record<string, string>>;

export interface Token {
  readonly field: string;
  readonly value: string;
  readonly excluded: boolean;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  /** Values to choose from; without them any text is taken. */
  readonly options?: readonly (string | { readonly value: string; readonly label: string })[];
  /** One free text instead of a list of values: commas belong to it. */
  readonly text?: boolean;
  /** The API takes one value only: a new one replaces the old. */
  readonly single?: boolean;
  /** The API knows no exclusion for it. */
  readonly plain?: boolean;
}

/** The field that somebody means by its name in the API or by its label on the page. */
export function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.label.toLowerCase() === name.toLowerCase());
}

/** What the API calls a value that somebody typed as the page shows it: "PDF" is `application/pdf`. */
function valueNamed(field: Field, typed: string): string {
  const wanted = typed.toLowerCase();
  for (const option of field.options ?? []) if (typeof option !== "string" && option.label.toLowerCase() === wanted) return option.value;
  return typed;
}

export function parseQuery(search: string): Query {
  const found: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (value !== "") found[name] = name in found ? `${found[name]},${value}` : value;
  }
  return found;
}

/** The query string, keys in order, commas and colons as they are: equal filters have equal addresses. */
export function writeQuery(query: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value === undefined || value === null || value === "") continue;
    const text = encodeURIComponent(String(value)).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%20/g, "+");
    parts.push(`${encodeURIComponent(name)}=${text}`);
  }
  return parts.length ? `?${parts.join("&")}` : "";
}

export function tokensOf(query: Query, fields: readonly Field[]): Token[] {
  return fields.flatMap((field) => {
    const whole = query[field.name];
    if (whole === undefined) return [];
    const values = field.text ? [whole] : whole.split(",").filter((value) => value !== "" && value !== "!");
    return values.map((value) =>
      value.startsWith("!") && !field.plain && !field.text
        ? { field: field.name, value: value.slice(1), excluded: true }
        : { field: field.name, value, excluded: false },
    );
  });
}

const written = (token: Token) => (token.excluded ? `!${token.value}` : token.value);

function put(query: Query, field: Field, tokens: readonly Token[]): Query {
  const next: Record<string, string> = { ...query };
  if (tokens.length === 0) delete next[field.name];
  else next[field.name] = tokens.map(written).join(",");
  return next;
}

export function withToken(query: Query, field: Field, token: Token): Query {
  if (field.text || field.single) return put(query, field, [token]);
  const others = tokensOf(query, [field]).filter((other) => other.value !== token.value);
  return put(query, field, [...others, token]);
}

export function withoutToken(query: Query, field: Field, token: Token): Query {
  return put(query, field, tokensOf(query, [field]).filter((other) => written(other) !== written(token)));
}

/** What somebody typed: `status:failed`, `!status:failed`, `-status:failed`; anything else is text to search for. */
export function parseTyped(typed: string, fields: readonly Field[]): Token | null {
  const text = typed.trim();
  if (text === "") return null;
  const found = /^([!-]?)([\w-]+):(.+)$/s.exec(text);
  const named = found && fieldNamed(found[2] ?? "", fields);
  if (found && named) {
    let value = (found[3] ?? "").trim();
    let excluded = found[1] !== "";
    if (value.startsWith("!")) [value, excluded] = [value.slice(1), true];
    if (value === "") return null;
    return { field: named.name, value: valueNamed(named, value), excluded: excluded && !named.plain && !named.text };
  }
  const free = fields.find((field) => field.text);
  return free ? { field: free.name, value: text, excluded: false } : null;
}

/** Only what the API's list takes: the fields, without the page's own keys (sort, selection, compare). */
export function filterOf(query: Query, fields: readonly Field[]): Query {
  const names = new Set(fields.map((field) => field.name));
  return Object.fromEntries(Object.entries(query).filter(([name]) => names.has(name)));
}
