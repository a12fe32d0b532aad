/** Passages of a text, whose positions the API counts by code point: JavaScript counts an emoji twice. */

export function cutter(text: string): (from: number, to?: number) => string {
  const letters = Array.from(text);
  return (from, to) => letters.slice(from, to).join("");
}
