/** Limits of a queue: how many tasks run at once, and how many start in a time. */

import { useState } from "react";
import { put } from "../../api/client";
import { useAction } from "../../api/queries";
import type { Queue } from "../../api/operate";
import { Confirm } from "../../ui/dialog";
import { toast } from "../../ui/toast";

const text = (n: number | null | undefined) => (n === null || n === undefined ? "" : String(n));
const number = (given: string) => (given.trim() === "" ? null : Number(given));

export function LimitsDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [scope, setScope] = useState<"queue" | "each_key">("queue");
  const current = queue.limits.find((limit) => limit.scope === scope);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const value = (name: "max_running" | "rate_count" | "rate_period_seconds" | "rate_burst") => typed[name] ?? text(current?.[name]);
  const save = useAction(
    () =>
      put(`/v1/queues/${encodeURIComponent(queue.queue)}/limits`, {
        scope,
        max_running: number(value("max_running")),
        rate_count: number(value("rate_count")),
        rate_period_seconds: number(value("rate_period_seconds")),
        rate_burst: number(value("rate_burst")),
      }),
    ["queues"],
    () => {
      toast(`The limits of ${queue.queue} are set.`);
      onClose();
    },
  );
  const field = (name: Parameters<typeof value>[0], label: string, note: string, placeholder?: string) => (
    <label className="field">
      {label}
      <input type="number" min={1} step={name === "rate_period_seconds" ? "any" : 1} value={value(name)} placeholder={placeholder} onChange={(event) => setTyped({ ...typed, [name]: event.target.value })} />
      <span className="quiet small">{note}</span>
    </label>
  );
  return (
    <Confirm open onClose={onClose} title={`Limits of ${queue.queue}`} verb="Set the limits" busy={save.isPending} error={save.error} onConfirm={() => save.mutate()}>
      <label className="field">
        Applies to
        <select
          value={scope}
          onChange={(event) => {
            setScope(event.target.value as typeof scope);
            setTyped({});
          }}
        >
          <option value="queue">the whole queue</option>
          <option value="each_key">each key (such as a tenant's mailbox or a vendor account)</option>
        </select>
      </label>
      {field("max_running", "Running at once", "Across all workers. Empty: as many as the workers have slots for.", "no limit")}
      {field("rate_count", "Tasks started per period", "Empty: no rate limit.", "no limit")}
      {field("rate_period_seconds", "Period in seconds", "60 for a minute.")}
      {field("rate_burst", "Burst", "How many may start at once after a pause. Empty: one period's worth.")}
    </Confirm>
  );
}
