/** JSON as a tree: deep parts are closed, long texts are cut, redacted values say so. */

import { useState } from "react";
import { Copy } from "./values";

const LONG = 160;
export const REDACTED = "[redacted]";

export function Json({ value, label = "JSON" }: { value: unknown; label?: string }) {
  return (
    <div className="json" role="group" aria-label={label}>
      <Copy text={JSON.stringify(value, null, 2) ?? ""} label={`Copy ${label}`} />
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ value, depth }: { value: unknown; depth: number }) {
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="json-punctuation">[]</span>;
    return <Group entries={value.map((item, index) => [String(index), item])} depth={depth} brackets="[]" />;
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value);
    if (entries.length === 0) return <span className="json-punctuation">{"{}"}</span>;
    return <Group entries={entries} depth={depth} brackets="{}" />;
  }
  if (typeof value === "string") return <Text value={value} />;
  return <span className="json-literal">{String(value)}</span>;
}

function Group({ entries, depth, brackets }: { entries: [string, unknown][]; depth: number; brackets: string }) {
  const items = (
    <ul>
      {entries.slice(0, 200).map(([name, item]) => (
        <li key={name}>
          <span className="json-key">{name}</span>
          <span className="json-punctuation">: </span>
          <Node value={item} depth={depth + 1} />
        </li>
      ))}
      {entries.length > 200 ? <li className="quiet">and {entries.length - 200} more</li> : null}
    </ul>
  );
  if (depth === 0) return items;
  return (
    <details open={depth < 2 && entries.length <= 8}>
      <summary>
        <span className="json-punctuation">
          {brackets[0]} {entries.length} {brackets[1]}
        </span>
      </summary>
      {items}
    </details>
  );
}

function Text({ value }: { value: string }) {
  const [open, setOpen] = useState(false);
  if (value === REDACTED) return <span className="json-redacted">redacted</span>;
  const cut = value.length > LONG && !open;
  return (
    <bdi className="json-text">
      {cut ? `${value.slice(0, LONG)}…` : value}
      {value.length > LONG ? (
        <button type="button" className="link" onClick={() => setOpen(!open)}>
          {open ? "less" : `all ${value.length} characters`}
        </button>
      ) : null}
    </bdi>
  );
}
