/** What the filter offers while somebody types, and what it calls a value. */

import { fieldNamed, type Field, type Token } from "../lib/filters";
import { wordOf } from "./state";

/** A value as the page shows it: the label of the option, or its word. */
export function labelOf(field: Field, value: string): string {
  for (const option of field.options ?? []) if (typeof option !== "string" && option.value === value) return option.label;
  return field.text ? value : wordOf(value);
}

export interface Suggestion {
  readonly text: string;
  readonly note?: string;
  readonly typed: string;
  readonly token?: Token;
}

/** What may be meant by what was typed so far: the text itself, values that begin like it, then fields. */
export function suggestions(given: string, fields: readonly Field[]): Suggestion[] {
  const typed = given.trim();
  const excluded = /^[!-]/.test(typed);
  const text = typed.replace(/^[!-]/, "").toLowerCase();
  const sign = excluded ? "!" : "";
  const colon = text.indexOf(":");
  if (colon >= 0) {
    const field = fieldNamed(text.slice(0, colon), fields);
    const begun = text.slice(colon + 1).trim();
    return (field?.options ?? [])
      .map((option) => (typeof option === "string" ? { value: option, label: wordOf(option) } : option))
      .filter((option) => option.value.toLowerCase().includes(begun) || option.label.toLowerCase().includes(begun))
      .slice(0, 12)
      .map((option) => ({
        text: option.label,
        typed: `${sign}${field?.name}:${option.value}`,
        token: { field: field?.name ?? "", value: option.value, excluded: excluded && !field?.plain },
      }));
  }
  const named = fields
    .filter((field) => !field.text && (field.name.includes(text) || field.label.toLowerCase().includes(text)))
    .map((field) => ({ text: `${sign}${field.name}:`, note: field.label, typed: `${sign}${field.name}:` }));
  const valued =
    text.length < 2
      ? []
      : fields.flatMap((field) =>
          (field.options ?? [])
            .map((option) => (typeof option === "string" ? { value: option, label: wordOf(option) } : option))
            .filter((option) => option.value.toLowerCase().startsWith(text) || option.label.toLowerCase().startsWith(text))
            .map((option) => ({
              text: `${sign}${field.name}:${option.value}`,
              note: option.label === option.value ? field.label : option.label,
              typed: `${sign}${field.name}:${option.value}`,
              token: { field: field.name, value: option.value, excluded: excluded && !field.plain },
            })),
        );
  const free = fields.find((field) => field.text);
  const asText =
    free && text !== "" ? [{ text: `“${typed}”`, note: free.label, typed, token: { field: free.name, value: typed, excluded: false } }] : [];
  return [...asText, ...valued, ...named].slice(0, 12);
}
