/** Times, durations, identifiers: small values that look the same everywhere. */

import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { compact, count } from "../lib/numbers";
import { briefly, duration, local, relative, timesIn, utc } from "../lib/time";
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

/** The time, every five seconds; what happened since the last of them is not in the future. */
export function useNow(): Date {
  useSyncExternalStore(subscribe, () => now);
  return new Date();
}

/** The zone that somebody chose for all times; undefined is the browser's own. */
export function useZone(): string | undefined {
  return useStored("zone")[0] === "utc" ? "UTC" : undefined;
}

/** When something was: how long ago, with the reader's own time and UTC on hover. */
export function Time({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  const current = useNow();
  const chosen = useZone();
  if (!at) return <span className="zero">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={`${local(date)} (${zoneName()})\n${utc(date)}`}>
      {exact ? `${local(date, chosen)}${chosen ? " UTC" : ""}` : relative(date, current, chosen)}
    </time>
  );
}

/** A sentence with its times in the reader's zone. */
export function Told({ children }: { children: string }) {
  return (
    <bdi>
      {timesIn(children).map((part, index) => (typeof part === "string" ? part : <Time key={index} at={part.toISOString()} exact />))}
    </bdi>
  );
}

export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A number in a cell: short where it is large, whole on hover. */
export function Count({ n, tone }: { n: number; tone?: string | undefined }) {
  return (
    <span className={n === 0 ? "zero" : tone ? `tone-text-${tone}` : ""} title={count(n)}>
      {compact(n)}
    </span>
  );
}

export function Duration({ seconds }: { seconds: number | null | undefined }) {
  if (seconds === null || seconds === undefined) return <span className="zero">–</span>;
  return <span title={`${seconds.toFixed(3)} s`}>{duration(seconds)}</span>;
}

/** A duration in a narrow cell: its largest unit, whole on hover. */
export function Brief({ seconds }: { seconds: number | null | undefined }) {
  if (seconds === null || seconds === undefined) return <span className="zero">–</span>;
  return <span title={duration(seconds)}>{briefly(seconds)}</span>;
}

/** How long since: a duration that grows. */
export function Since({ at, brief = false }: { at: string; brief?: boolean }) {
  const current = useNow();
  const Shown = brief ? Brief : Duration;
  return <Shown seconds={Math.max(0, (current.getTime() - new Date(at).getTime()) / 1000)} />;
}

/** An age as the server measured it: it grows on the page until the next answer. */
export function Age({ seconds, brief = false }: { seconds: number | null | undefined; brief?: boolean }) {
  const current = useNow();
  const seen = useMemo(() => Date.now(), [seconds]);
  const Shown = brief ? Brief : Duration;
  return <Shown seconds={seconds == null ? null : seconds + Math.max(0, current.getTime() - seen) / 1000} />;
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
