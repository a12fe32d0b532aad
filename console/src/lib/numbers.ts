/** Numbers as people read them. */

const whole = new Intl.NumberFormat("en-GB");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** 1,234,567; with ≈ before an estimate. */
export function count(n: number, approximate = false): string {
  return (approximate ? "≈ " : "") + whole.format(n);
}

/** 1.2M, for places without room. */
export function compact(n: number): string {
  return n < 10_000 ? whole.format(n) : short.format(n);
}

/** `compact`, with ≈ before an estimate: for cells, which have the whole number on hover. */
export function fitting(n: number, approximate = false): string {
  return (approximate ? "≈ " : "") + compact(n);
}

export function rate(perMinute: number): string {
  if (perMinute === 0) return "0/min";
  if (perMinute < 10) return `${Number(perMinute.toFixed(1))}/min`;
  return `${compact(Math.round(perMinute))}/min`;
}

export function bytes(n: number): string {
  let value = n;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 1000) return `${value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

/** "1 document", "2 documents". */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
