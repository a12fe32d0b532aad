/** Errors that stay on the page, empty places that teach the next step, and what is being loaded. */

import { useEffect, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { CommandHint } from "./values";
import { Icon } from "./icons";

/** What went wrong, which field, and what to do. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  const told = error instanceof ApiError ? error : null;
  return (
    <div className="error-box" role="alert">
      <Icon name="failed" />
      <div>
        <p className="error-title">
          {told?.field && told.status !== 404 ? <code>{told.field}</code> : null} {error instanceof Error ? error.message : String(error)}
        </p>
        {told?.faults.length ? (
          <ul>
            {told.faults.map((fault) => (
              <li key={fault.field + fault.detail}>
                <code>{fault.field}</code>: {fault.detail}
              </li>
            ))}
          </ul>
        ) : null}
        {told?.remedy ? <p>{told.remedy}</p> : null}
        {told?.requestId ? <p className="quiet small">Request {told.requestId}</p> : null}
      </div>
      {retry ? (
        <button type="button" onClick={retry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

/** Nothing here, why, and the command or button that changes it. */
export function EmptyState({ title, children, command }: { title: string; children?: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <svg viewBox="0 0 120 40" aria-hidden="true" className="empty-art">
        <path d="M0 26c10 0 10-6 20-6s10 6 20 6 10-6 20-6 10 6 20 6 10-6 20-6 10 6 20 6" />
        <path d="M0 35c10 0 10-6 20-6s10 6 20 6 10-6 20-6 10 6 20 6 10-6 20-6 10 6 20 6" />
        <rect x="50" y="2" width="20" height="15" rx="2" />
      </svg>
      <h2>{title}</h2>
      {children ? <div className="empty-text">{children}</div> : null}
      {command ? <CommandHint command={command} /> : null}
    </div>
  );
}

/** Shown only when something takes longer than a blink, so that quick pages do not flash. */
export function Loading({ what = "Loading" }: { what?: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 250);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="loading" role="status">
      {slow ? `${what} …` : ""}
    </p>
  );
}

/** A query's three states at one place: `<Answer of={query}>{(data) => …}</Answer>`. */
export function Answer<T>({
  of,
  children,
}: {
  of: { data: T | undefined; error: unknown; refetch: () => unknown };
  children: (data: T) => ReactNode;
}) {
  if (of.data === undefined) return of.error ? <ErrorBox error={of.error} retry={() => void of.refetch()} /> : <Loading />;
  return (
    <>
      {of.error ? <ErrorBox error={of.error} retry={() => void of.refetch()} /> : null}
      {children(of.data)}
    </>
  );
}
