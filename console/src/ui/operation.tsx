/** A bulk operation: how far it is, what it skipped, how long it will take; cancel while it runs. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { post } from "../api/client";
import { refresh, useAction, useApi } from "../api/queries";
import type { Operation } from "../api/operate";
import { A } from "../app/address";
import { useMay } from "../app/session";
import { count } from "../lib/numbers";
import { duration } from "../lib/time";
import { Icon } from "./icons";
import { ErrorBox } from "./notices";
import { StateBadge } from "./state";

export type { Operation };

const ACTIONS: Readonly<Record<string, string>> = {
  "documents.retry": "Retry documents",
  "documents.reindex": "Re-index documents",
  "documents.delete": "Delete documents",
  "tasks.cancel": "Cancel tasks",
  "tasks.run_now": "Run tasks now",
  "dead.replay": "Replay dead letters",
  "dead.purge": "Purge dead letters",
  "decisions.restore": "Restore skipped mail",
  "sources.sync": "Sync sources",
  "sources.pause": "Pause sources",
  "sources.resume": "Resume sources",
  "clients.delete": "Delete clients",
  "processes.retry": "Start processes again",
  "keys.revoke": "Revoke keys",
  "sessions.end": "End sessions",
  "queues.pause": "Pause queues",
  "queues.resume": "Resume queues",
  "workers.stop": "Stop workers",
  "schedules.run": "Run schedules",
  "schedules.pause": "Switch schedules off",
  "schedules.resume": "Switch schedules on",
  "operations.cancel": "Cancel operations",
  "inlets.pause": "Pause inlets",
  "inlets.resume": "Resume inlets",
};

export function actionName(action: string): string {
  return ACTIONS[action] ?? action;
}

export const isRunning = (operation: Operation) => operation.state === "running" || operation.state === "watching";

export function useOperation(id: string) {
  return useApi<Operation>(`/v1/operations/${id}`, { live: ["operations", `operation:${id}`] });
}

/** Below the list it was started from: progress, then a receipt. */
export function OperationCard({ id, onDismiss, changes = [] }: { id: string; onDismiss?: () => void; changes?: readonly string[] }) {
  const found = useOperation(id);
  const may = useMay("operate");
  const cancel = useAction((_: null) => post(`/v1/operations/${id}/cancel`), ["operations", `operation:${id}`]);
  const operation = found.data;
  // Not everything that operations change has a name in the event stream: what it changed is fetched when it ends.
  const ended = operation !== undefined && !isRunning(operation);
  const client = useQueryClient();
  useEffect(() => {
    if (ended) refresh(client, new Set(changes));
  }, [ended]);
  if (!operation) return found.error ? <ErrorBox error={found.error} /> : null;
  return (
    <div className="operation-card" role="status" aria-label={actionName(operation.action)}>
      <div className="operation-line">
        <StateBadge state={operation.state} />
        <A to={`/operations/${id}`}>{actionName(operation.action)}</A>
        <span className="spacer" />
        {isRunning(operation) ? (
          may ? (
            <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate(null)}>
              Cancel
            </button>
          ) : null
        ) : onDismiss ? (
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={onDismiss}>
            <Icon name="close" />
          </button>
        ) : null}
      </div>
      <Progress operation={operation} />
      <ErrorBox error={cancel.error} />
      {operation.error ? <p className="tone-text-bad">{operation.error}</p> : null}
    </div>
  );
}

export function Progress({ operation }: { operation: Operation }) {
  const whole = Math.max(1, operation.total);
  const share = (n: number) => `${(100 * Math.min(n, whole)) / whole}%`;
  const left = isRunning(operation) ? 0 : operation.total - operation.done - operation.skipped - operation.failed;
  const reasons = [
    ...operation.failed_reasons.map((each) => ({ ...each, word: "failed" })),
    ...operation.skipped_reasons.map((each) => ({ ...each, word: "skipped" })),
  ];
  return (
    <>
      <div className="progress" role="progressbar" aria-valuemin={0} aria-valuemax={operation.total} aria-valuenow={operation.done} aria-label="Progress">
        <span className="tone-back-good" style={{ width: share(operation.done) }} />
        <span className="tone-back-quiet" style={{ width: share(operation.skipped) }} />
        <span className="tone-back-bad" style={{ width: share(operation.failed) }} />
      </div>
      <p className="operation-text">
        {count(operation.done)} of {count(operation.total)} done
        {operation.skipped ? `, ${count(operation.skipped)} skipped` : ""}
        {operation.failed ? `, ${count(operation.failed)} failed` : ""}
        {left > 0 ? `, ${count(left)} left as ${left === 1 ? "it was" : "they were"}` : ""}
        {isRunning(operation) && operation.eta_seconds !== null ? <Eta operation={operation} /> : null}
      </p>
      {operation.canary ? <Canary operation={operation} /> : null}
      {reasons.length ? (
        <ul className="small">
          {reasons.map(({ word, reason, count: n }) => (
            <li key={word + reason}>
              {count(n)} {word}: <bdi>{reason}</bdi>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function Eta({ operation }: { operation: Operation }) {
  const { eta_seconds: eta, eta_low: low, eta_high: high } = operation;
  if (eta === null) return null;
  const between = low !== null && high !== null && high > low ? ` (${duration(low)} to ${duration(high)})` : "";
  return (
    <span className="quiet">
      {" "}
      · about {duration(eta)} left{between}
    </span>
  );
}

function Canary({ operation }: { operation: Operation }) {
  const canary = operation.canary;
  if (!canary) return null;
  return (
    <p className="small">
      Tried {canary.percent} % first: {count(canary.succeeded)} of {count(canary.size)} succeeded
      {canary.failed ? `, ${count(canary.failed)} failed` : ""}
      {operation.state === "watching" ? ". Waiting for the rest of the sample before continuing." : "."}
    </p>
  );
}
