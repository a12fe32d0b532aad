/** Times and durations as people read them. */

/** "just now", "5 min ago", "in 3 h", "12 Mar", "12 Mar 2024". */
export function relative(at: Date, now: Date, zone?: string): string {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  const said = (text: string) => (seconds >= 0 ? `${text} ago` : `in ${text}`);
  if (size < 60) return said(`${Math.round(size)} s`);
  if (size < 3600) return said(`${Math.round(size / 60)} min`);
  if (size < 86_400) return said(`${Math.round(size / 3600)} h`);
  if (size < 14 * 86_400) return said(`${Math.round(size / 86_400)} d`);
  const sameYear = at.getUTCFullYear() === now.getUTCFullYear();
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
    ...(zone ? { timeZone: zone } : {}),
  }).format(at);
}

/** In the reader's zone, with its name. */
export function local(at: Date, zone?: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
    ...(zone ? { timeZone: zone } : {}),
  }).format(at);
}

export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Below a chart: hours and minutes within a day, otherwise days. */
export function tickText(seconds: number, span: number, zone?: string): string {
  const style: Intl.DateTimeFormatOptions = span > 86_400 ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat("en-GB", { ...style, ...(zone ? { timeZone: zone } : {}) }).format(new Date(seconds * 1000));
}

/** "0 ms", "340 ms", "1.2 s", "4 min 3 s", "2 h 5 min", "3 d 4 h". */
export function duration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${Number(s.toFixed(1))} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const pair = (big: number, one: string, small: number, other: string) =>
    small === 0 ? `${big} ${one}` : `${big} ${one} ${small} ${other}`;
  if (s < 3600) return pair(Math.floor(s / 60), "min", Math.floor(s % 60), "s");
  if (s < 86_400) return pair(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "min");
  return pair(Math.floor(s / 86_400), "d", Math.floor((s % 86_400) / 3600), "h");
}

/** A sentence of the database in parts: texts, and the times in it, which it writes in UTC. */
export function timesIn(text: string): readonly (string | Date)[] {
  const parts = text.split(/(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00(?::00)?)/);
  return parts.filter((part) => part !== "").map((part) => (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(part) ? new Date(`${part.slice(0, 19).replace(" ", "T")}Z`) : part));
}

/** The largest unit only: "340 ms", "17 min", "3 d". */
export function briefly(seconds: number): string {
  return duration(seconds).split(" ").slice(0, 2).join(" ");
}
