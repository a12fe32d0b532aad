/** Times, durations, identifiers: small values that look the same everywhere. */

import { useEffect, useState, useSyncExternalStore } from "react";
import { duration, local, relative, utc } from "../lib/time";
import { useStored } from "../lib/stored";
import { Icon } from "./icons";

let now = new Date();
const tickers = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | null = null;

function subscribe(ticker: () => void): () => void {
  tickers.add(ticker);
  clock ??= setInterval(() => {
    now = new Date();
    for (const each of tickers) each();
  }, 5000);
  return () => {
    tickers.delete(ticker);
    if (tickers.size === 0 && clock !== null) {
      clearInterval(clock);
      clock = null;
    }
  };
}

/** The time, every five seconds. */
export function useNow(): Date {
  const seen = useSyncExternalStore(subscribe, () => now);
  const current = new Date();
  return current.getTime() - seen.getTime() > 6000 ? current : seen;
}

/** When something was: how long ago, with the reader's own time and UTC on hover. */
export function Time({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  const current = useNow();
  const [zone] = useStored("zone");
  if (!at) return <span className="zero">–</span>;
  const date = new Date(at);
  const chosen = zone === "utc" ? "UTC" : undefined;
  return (
    <time dateTime={date.toISOString()} title={`${local(date)} (${zoneName()})\n${utc(date)}`}>
      {exact ? local(date, chosen) : relative(date, current, chosen)}
    </time>
  );
}

export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function Duration({ seconds }: { seconds: number | null | undefined }) {
  if (seconds === null || seconds === undefined) return <span className="zero">–</span>;
  return <span title={`${seconds.toFixed(3)} s`}>{duration(seconds)}</span>;
}

/** How long since: a duration that grows. */
export function Since({ at }: { at: string }) {
  const current = useNow();
  return <Duration seconds={Math.max(0, (current.getTime() - new Date(at).getTime()) / 1000)} />;
}

/** Text whose direction is its own, cut by an ellipsis, whole on hover. */
export function Name({ children, mono = false }: { children: string; mono?: boolean }) {
  return (
    <bdi className={mono ? "name mono" : "name"} title={children}>
      {children}
    </bdi>
  );
}

/** An identifier: its end is what tells two of them apart. */
export function Id({ value, whole = false }: { value: string | number; whole?: boolean }) {
  const text = String(value);
  const shown = whole || text.length <= 12 ? text : `…${text.slice(-8)}`;
  return (
    <span className="id" title={text}>
      <code>{shown}</code>
      <Copy text={text} />
    </span>
  );
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className="icon-button copy"
      aria-label={copied ? "Copied" : label}
      title={copied ? "Copied" : label}
      onClick={(event) => {
        event.stopPropagation();
        event.preventDefault();
        void navigator.clipboard?.writeText(text).then(() => setCopied(true));
      }}
    >
      <Icon name={copied ? "done" : "copy"} />
    </button>
  );
}

/** A command to type, with a button that copies it. */
export function CommandHint({ command }: { command: string }) {
  return (
    <span className="command">
      <code>{command}</code>
      <Copy text={command} label="Copy the command" />
    </span>
  );
}
