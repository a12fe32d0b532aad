/** A client as a person writes it down: name, industry, summary and facts. */

import { useState } from "react";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { factsOf, linesOf, type FactLine } from "./facts";

export interface Written {
  readonly name: string;
  readonly industry: string | null;
  readonly summary: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

export function ClientForm({
  title,
  verb,
  start,
  busy,
  error,
  onClose,
  onSave,
}: {
  title: string;
  verb: string;
  start?: Written;
  busy: boolean;
  error: unknown;
  onClose: () => void;
  onSave: (body: Record<string, unknown>) => void;
}) {
  const [name, setName] = useState(start?.name ?? "");
  const [industry, setIndustry] = useState(start?.industry ?? "");
  const [summary, setSummary] = useState(start?.summary ?? "");
  const [lines, setLines] = useState<readonly FactLine[]>(linesOf(start?.facts ?? {}));
  const edit = (index: number, change: Partial<FactLine>) => setLines(lines.map((line, at) => (at === index ? { ...line, ...change } : line)));
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      verb={verb}
      busy={busy}
      disabled={name.trim() === ""}
      error={error}
      onConfirm={() => onSave({ name: name.trim(), industry: industry.trim() || null, summary: summary.trim() || null, key_facts: factsOf(lines) })}
    >
      <label className="field">
        Name
        <input required maxLength={500} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="field">
        Industry
        <input maxLength={200} value={industry} onChange={(event) => setIndustry(event.target.value)} />
      </label>
      <label className="field">
        Summary
        <textarea className="prose" rows={3} maxLength={4000} value={summary} onChange={(event) => setSummary(event.target.value)} />
      </label>
      <fieldset className="fact-lines">
        <legend>Facts</legend>
        {lines.map((line, index) => (
          <div key={index} className="fact-line">
            <input aria-label={`Name of fact ${index + 1}`} placeholder="contact_role" value={line.name} onChange={(event) => edit(index, { name: event.target.value })} />
            <input aria-label={`Value of fact ${index + 1}`} placeholder="Head of purchasing" value={line.value} onChange={(event) => edit(index, { value: event.target.value })} />
            <button type="button" className="icon-button" aria-label={`Remove fact ${index + 1}`} onClick={() => setLines(lines.filter((_, at) => at !== index))}>
              <Icon name="close" />
            </button>
          </div>
        ))}
        <button type="button" onClick={() => setLines([...lines, { name: "", value: "" }])}>
          Add a fact
        </button>
      </fieldset>
      <p className="quiet small">What you write here is yours: no sync ever changes it.</p>
    </Confirm>
  );
}
