/** Facts as people read and write them. */

export interface FactLine {
  readonly name: string;
  readonly value: string;
}

/** JSON where it is JSON (numbers, lists), text otherwise; lines without a name are left out. */
export function factsOf(lines: readonly FactLine[]): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const line of lines) if (line.name.trim() !== "") facts[line.name.trim()] = parsed(line.value.trim());
  return facts;
}

function parsed(text: string): unknown {
  if (!/^(-?\d|\[|\{|true$|false$|null$)/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function linesOf(facts: Readonly<Record<string, unknown>>): FactLine[] {
  return Object.entries(facts).map(([name, value]) => ({ name, value: typeof value === "string" ? value : JSON.stringify(value) }));
}

/** A list of several things, which is shown as lines; null for anything that fits on one. */
export function listed(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 1 && value.some((each) => typeof each === "object" && each !== null) ? value : null;
}

/** "HOSPITAL_HEALTH_CARE", as CRMs store a choice, for people; other words stay as they are. */
export function choiceWords(text: string): string {
  return /^[A-Z0-9]+(_[A-Z0-9]+)+$|^[A-Z]{5,}$/.test(text) ? text.charAt(0) + text.slice(1).toLowerCase().replaceAll("_", " ") : text;
}

/** A value on one line: numbers with separators, objects as name and value. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 }).format(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(shown).join("; ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, inner]) => `${name.replaceAll("_", " ")} ${shown(inner)}`)
      .join(", ");
  return String(value);
}
