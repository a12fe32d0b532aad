/** A bulk operation: how far it is, what it skipped, how long it will take; cancel while it runs. */

import { post } from "../api/client";
import { useAction, useApi } from "../api/queries";
import type { Operation } from "../api/operate";
import { A } from "../app/address";
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
};

export function actionName(action: string): string {
  return ACTIONS[action] ?? action;
}

export const isRunning = (operation: Operation) => operation.state === "running" || operation.state === "watching";

export function useOperation(id: string) {
  return useApi<Operation>(`/v1/operations/${id}`, { live: ["operations", `operation:${id}`] });
}

/** Below the list it was started from: progress, then a receipt. */
export function OperationCard({ id, onDismiss }: { id: string; onDismiss?: () => void }) {
  const found = useOperation(id);
  const cancel = useAction((_: null) => post(`/v1/operations/${id}/cancel`), ["operations", `operation:${id}`]);
  const operation = found.data;
  if (!operation) return found.error ? <ErrorBox error={found.error} /> : null;
  return (
    <div className="operation-card" role="status" aria-label={actionName(operation.action)}>
      <div className="operation-line">
        <StateBadge state={operation.state} />
        <A to={`/operations/${id}`}>{actionName(operation.action)}</A>
        <span className="spacer" />
        {isRunning(operation) ? (
          <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate(null)}>
            Cancel
          </button>
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
        {isRunning(operation) && operation.eta_seconds !== null ? <Eta operation={operation} /> : null}
      </p>
      {operation.canary ? <Canary operation={operation} /> : null}
      {operation.skipped_reasons.length ? (
        <ul className="small">
          {operation.skipped_reasons.map((skipped) => (
            <li key={skipped.reason}>
              {count(skipped.count)} skipped: {skipped.reason}
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
      {operation.state === "watching" ? ". Waiting for the others before going on." : "."}
    </p>
  );
}
