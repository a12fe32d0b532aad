/** The rules of a mailbox: how often each fired, decided and was reversed; switch them here. */

import { useState } from "react";
import { patch, put, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useMay } from "../../app/session";
import { count } from "../../lib/numbers";
import { Answer, ErrorBox } from "../../ui/notices";
import { Icon } from "../../ui/icons";
import { Section, Table } from "../../ui/page";

type RuleUse = Schemas["RuleUse"];
type Change = Readonly<Record<string, unknown>>;

export function Rules({ sourceId, config }: { sourceId: string; config: Readonly<Record<string, unknown>> }) {
  const path = `/v1/sources/${sourceId}/rules`;
  const live = ["sources", `source:${sourceId}`, "decisions"];
  const found = useApi<Schemas["RuleList"]>(path, { live });
  const change = useAction((body: Change) => patch(path, body), live);
  // What becomes of a class is a setting of the source, beside those for its rules.
  const classes = (config["classes"] ?? {}) as Readonly<Record<string, string>>;
  const decide = useAction(
    (wanted: { name: string; action: "keep" | "skip" }) =>
      put(`/v1/sources/${sourceId}/config`, { changes: { classes: { ...classes, [wanted.name]: wanted.action } } }),
    live,
  );
  const may = useMay("admin");
  const [all, setAll] = useState(false);
  // What was switched here stays in sight, also when it is as it was before.
  const [switched, setSwitched] = useState<readonly string[]>([]);
  const busy = change.isPending || decide.isPending;
  return (
    <Section title="Rules and classes">
      <ErrorBox error={change.error ?? decide.error} />
      <Answer of={found}>
        {(answer) => {
          const sorted = [...answer.items].sort((a, b) => b.fired - a.fired || a.stage - b.stage);
          const used = sorted.filter((rule) => rule.fired > 0 || rule.is_changed || switched.includes(rule.name));
          const shown = all ? sorted : used;
          return (
          <>
            {shown.length === 0 ? <p className="quiet">No rule has fired yet.</p> : null}
            {shown.length ? <Table
              label="Rules and classes"
              head={["Rule or class", "What it does", { text: "Fired", right: true }, { text: "Decided", right: true }, { text: "Reversed", right: true }, ""]}
            >
              {shown.map((rule) => (
                <RuleLine
                  key={`${rule.stage}${rule.name}`}
                  rule={rule}
                  may={may}
                  busy={busy}
                  onSwitch={(on) => {
                    setSwitched([...switched, rule.name]);
                    if (rule.stage === 2) decide.mutate({ name: rule.name, action: on ? "skip" : "keep" });
                    else change.mutate(on ? { on: [rule.name] } : { off: [rule.name] });
                  }}
                />
              ))}
            </Table> : null}
            {sorted.length > used.length ? (
              <p>
                <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
                  {all ? "Show only what has fired" : `Show ${sorted.length - used.length} more that have not fired`}
                </button>
              </p>
            ) : null}
            <Senders title="Always keep mails of" known={answer.allow_senders} may={may} busy={change.isPending} field="allow" onChange={(body) => change.mutate(body)} />
            <Senders title="Always skip mails of" known={answer.block_senders} may={may} busy={change.isPending} field="block" onChange={(body) => change.mutate(body)} />
          </>
          );
        }}
      </Answer>
    </Section>
  );
}

function RuleLine({ rule, may, busy, onSwitch }: { rule: RuleUse; may: boolean; busy: boolean; onSwitch: (on: boolean) => void }) {
  const isOn = rule.action === "on" || rule.action === "skip";
  const isClass = rule.stage === 2;
  const wrong = rule.dropped > 0 ? rule.reversed / rule.dropped : 0;
  return (
    <tr className={isOn ? "" : "off"}>
      <td>
        <strong>{rule.name.replaceAll("_", " ")}</strong>
        <div className="quiet small">
          {isClass ? "class" : rule.weight === null ? "decides alone" : `weight ${rule.weight}`}
          {rule.is_changed ? ", changed" : ""}
        </div>
      </td>
      <td>{rule.about}</td>
      <td className="right">{count(rule.fired)}</td>
      <td className="right">{count(rule.dropped)}</td>
      <td className={wrong >= 0.1 ? "right tone-text-warn" : "right"} title={wrong >= 0.1 ? "Reversed often: consider switching it off" : undefined}>
        {count(rule.reversed)}
      </td>
      <td className="right">
        {may ? (
          <button
            type="button"
            role="switch"
            aria-checked={isOn}
            aria-label={`${rule.name.replaceAll("_", " ")} ${isClass ? "is skipped" : "is on"}`}
            className="switch"
            disabled={busy}
            onClick={() => onSwitch(!isOn)}
          >
            {isClass ? (isOn ? "skipped" : "kept") : isOn ? "on" : "off"}
          </button>
        ) : (
          <span>{isClass ? (isOn ? "skipped" : "kept") : isOn ? "on" : "off"}</span>
        )}
      </td>
    </tr>
  );
}

function Senders({ title, known, may, busy, field, onChange }: { title: string; known: readonly string[]; may: boolean; busy: boolean; field: "allow" | "block"; onChange: (body: Change) => void }) {
  const [typed, setTyped] = useState("");
  if (!may && known.length === 0) return null;
  return (
    <form
      className="senders"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() === "") return;
        onChange({ [field]: [typed.trim()] });
        setTyped("");
      }}
    >
      <span>{title}</span>
      {known.map((sender) => (
        <span key={sender} className="token">
          <bdi className="token-text">{sender}</bdi>
          {may ? (
            <button type="button" className="icon-button" aria-label={`Forget ${sender}`} disabled={busy} onClick={() => onChange({ forget: [sender] })}>
              <Icon name="close" />
            </button>
          ) : null}
        </span>
      ))}
      {may ? (
        <>
          <input value={typed} aria-label={title} placeholder="name@example.com or example.com" onChange={(event) => setTyped(event.target.value)} />
          <button type="submit" disabled={busy || typed.trim() === ""}>
            Add
          </button>
        </>
      ) : null}
    </form>
  );
}
