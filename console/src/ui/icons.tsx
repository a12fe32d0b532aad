/** Icons, drawn by us: 16 by 16, in the colour of the text. */

import type { ReactNode } from "react";

const PATHS = {
  waiting: <path d="M8 4.2V8l2.6 1.7M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z" />,
  running: <path d="M13.5 8A5.5 5.5 0 1 1 8 2.5" />,
  done: <path d="m3.2 8.6 3.1 3.1 6.5-7.2" />,
  failed: <path d="m4 4 8 8m0-8-8 8" />,
  attention: <path d="M8 2.2 14.4 13.4H1.6L8 2.2Zm0 4.4v3.2m0 1.7v.1" />,
  skipped: <path d="m3.5 4 4 4-4 4m5-8 4 4-4 4" />,
  paused: <path d="M5.5 3.5v9m5-9v9" />,
  stopped: <path d="M4 4h8v8H4z" />,
  dead: <path d="M2.2 8h3l1.6-4 2.4 8 1.4-4h3.2" />,
  unknown: <path d="M3 8h10" />,
  overview: <path d="M2 12.5V9.8h3.4V6.4h3.8V3.2H14" />,
  documents: <path d="M4 1.8h5l3 3v9.4H4zM9 1.8v3.2h3M6 8.2h4M6 10.8h4" />,
  search: <path d="m14 14-3.6-3.6M11.6 7A4.6 4.6 0 1 1 2.4 7a4.6 4.6 0 0 1 9.2 0Z" />,
  sources: <path d="M2 5.5C2 4 4.7 3 8 3s6 1 6 2.5S11.3 8 8 8 2 7 2 5.5Zm0 0v5C2 12 4.7 13 8 13s6-1 6-2.5v-5" />,
  clients: <path d="M8 7.4a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM2.8 13.8c.4-2.7 2.5-4.2 5.2-4.2s4.8 1.5 5.2 4.2" />,
  queues: <path d="M2 4h12M2 8h9M2 12h6" />,
  tasks: <path d="M2.5 4 4 5.5 6.5 3M2.5 10.5 4 12l2.5-2.5M9 4.5h5M9 11h5" />,
  failures: <path d="M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Zm0 3v4m0 2.3v.1" />,
  processes: <path d="M3.2 5.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Zm9.6 8.4a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM3.2 5.6v3.2a3.4 3.4 0 0 0 3.4 3.4H11" />,
  workers: <path d="M3 3h10v4H3zm0 6h10v4H3zm2.4-4v.1m0 5.9v.1" />,
  inlets: <path d="M2 8h8m0 0L6.8 4.8M10 8l-3.2 3.2M9.5 2.5h4v11h-4" />,
  operations: <path d="M8 2v2m0 8v2M2 8h2m8 0h2M3.8 3.8l1.4 1.4m5.6 5.6 1.4 1.4m0-8.4-1.4 1.4m-5.6 5.6-1.4 1.4" />,
  access: <path d="M4 7h8v7H4zm1.6 0V4.8a2.4 2.4 0 0 1 4.8 0V7" />,
  menu: <path d="M2 4h12M2 8h12M2 12h12" />,
  close: <path d="m4 4 8 8m0-8-8 8" />,
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5V2.5h-8v8H5" />,
  more: <path d="M3 8h.1M8 8h.1M13 8h.1" />,
  play: <path d="M4.5 3v10l8-5-8-5Z" />,
  refresh: <path d="M13.5 3v3.5H10M13 6.2A5.5 5.5 0 1 0 13.5 8" />,
  external: <path d="M9.5 2.5h4v4m0-4-6 6M11.5 9v4.5h-9v-9H7" />,
  chevron: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  upload: <path d="M8 10.5v-8m0 0L4.8 5.7M8 2.5l3.2 3.2M2.5 10.5v3h11v-3" />,
  star: <path d="m8 2 1.8 3.8 4.2.5-3.1 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1L2 6.3l4.2-.5L8 2Z" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg className={`icon ${className ?? ""}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {PATHS[name]}
    </svg>
  );
}

/** A gate over flowing water. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect width="24" height="24" rx="6" className="logo-back" />
      <path d="M8.5 3.5h7v8.2h-7z" className="logo-gate" />
      <path d="M3 14.6c3 0 3-1.9 6-1.9s3 1.9 6 1.9 3-1.9 6-1.9v7.5H3z" className="logo-water" />
    </svg>
  );
}
