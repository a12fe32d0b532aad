/** Acts on what is chosen: preview, a dialog that names the number, an operation with progress and cancel, a receipt. */

import { useState } from "react";
import { post } from "../api/client";
import { useAction } from "../api/queries";
import type { Preview } from "../api/operate";
import { count } from "../lib/numbers";
import type { Query } from "../lib/filters";
import { isTooLarge, MOST_IDS, NONE, size, type Selection } from "../lib/selection";
import { percentOf, told, type BulkAction } from "./bulk";
import { Confirm } from "./dialog";
import { ErrorBox, Loading } from "./notices";
import { OperationCard, type Operation } from "./operation";

export type { BulkAction };

export interface BulkBarProps {
  readonly actions: readonly BulkAction[];
  readonly filter: Query;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  /** How many match the filter. */
  readonly total: number | null;
  readonly approximate?: boolean;
  readonly loaded: number;
  /** Names of the event stream to fetch again when an operation starts. */
  readonly changes: readonly string[];
}

export function BulkBar(props: BulkBarProps) {
  const { selection, total, filter } = props;
  const [asked, setAsked] = useState<BulkAction | null>(null);
  const [started, setStarted] = useState<string | null>(null);
  const chosen = size(selection, total ?? 0);
  const target: Readonly<Record<string, unknown>> = selection.all ? filter : { ids: [...selection.ids] };
  if (chosen === 0 && !selection.all)
    return started ? <OperationCard id={started} changes={props.changes} onDismiss={() => setStarted(null)} /> : null;
  return (
    <>
      {started ? <OperationCard id={started} changes={props.changes} onDismiss={() => setStarted(null)} /> : null}
      <div className="bulk-bar" role="toolbar" aria-label="Actions on the selection">
        <strong>
          {selection.all ? (total === null ? "All that match" : `All ${count(total, props.approximate)} that match`) : `${count(chosen)} selected`}
        </strong>
        {!selection.all && (total ?? chosen + 1) > chosen ? (
          <button type="button" className="link" onClick={() => props.onSelect({ all: true })}>
            Select all {total === null ? "" : `${count(total, props.approximate)} `}that match
          </button>
        ) : null}
        <button type="button" className="link" onClick={() => props.onSelect(NONE)}>
          Clear
        </button>
        {isTooLarge(selection) ? <span role="alert">At most {count(MOST_IDS)} at once: clear some, or select all that match.</span> : null}
        <span className="spacer" />
        {props.actions.map((action) => (
          <button key={action.action} type="button" className={action.danger ? "danger" : ""} disabled={isTooLarge(selection)} onClick={() => setAsked(action)}>
            {action.verb} {selection.all && total === null ? "all" : count(chosen, selection.all && props.approximate)} …
          </button>
        ))}
      </div>
      {asked ? (
        <BulkDialog
          action={asked}
          filter={target}
          changes={props.changes}
          onClose={() => setAsked(null)}
          onStarted={(operation) => {
            setAsked(null);
            setStarted(operation.operation_id);
            props.onSelect(NONE);
          }}
        />
      ) : null}
    </>
  );
}

/** The dialog alone, for a page with a button of its own (a failure group). */
export function BulkDialog({
  action,
  filter,
  changes,
  canaryPercent,
  onClose,
  onStarted,
}: {
  action: BulkAction;
  filter: Readonly<Record<string, unknown>>;
  changes: readonly string[];
  canaryPercent?: number;
  onClose: () => void;
  onStarted: (operation: Operation) => void;
}) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [canary, setCanary] = useState(canaryPercent ?? 0);
  const { n, title, verb, percent } = told(action, preview, canary);
  const ask = useAction((_: null) => post<Preview>("/v1/operations/preview", { action: action.action, filter }), [], setPreview);
  const start = useAction(
    (expected: number) =>
      post<Operation>("/v1/operations", {
        action: action.action,
        filter,
        expected_count: expected,
        ...(percent > 0 ? { canary_percent: percent } : {}),
      }),
    [...changes, "operations"],
    onStarted,
  );
  if (!preview && !ask.isPending && !ask.isError) ask.mutate(null);
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      verb={verb}
      danger={action.danger ?? false}
      busy={start.isPending}
      disabled={!preview || n === 0}
      error={start.error}
      onConfirm={() => preview && start.mutate(preview.count)}
    >
      {ask.error ? <ErrorBox error={ask.error} retry={() => ask.mutate(null)} /> : null}
      {!preview && !ask.error ? <Loading what="Counting" /> : null}
      {preview ? (
        <>
          {n === 0 ? <p>Nothing to do: this action applies to none of them now.</p> : null}
          {action.about && n > 0 ? <p>{action.about}</p> : null}
          {preview.skipped.length ? (
            <>
              <p>Left out:</p>
              <ul>
                {preview.skipped.map((skipped) => (
                  <li key={skipped.reason}>
                    {count(skipped.count)}: {skipped.reason}
                  </li>
                ))}
              </ul>
            </>
          ) : null}
          {action.canary && n > 1 ? (
            <label className="field sentence">
              <input type="checkbox" checked={canary > 0} onChange={(event) => setCanary(event.target.checked ? (canaryPercent ?? 1) : 0)} /> Try{" "}
              <input
                type="number"
                min={1}
                max={50}
                value={canary || (canaryPercent ?? 1)}
                aria-label="Percent to try first"
                onChange={(event) => setCanary(percentOf(event.target.value))}
              />{" "}
              % first, and continue only if at least 95 % of those succeed
            </label>
          ) : null}
          {n > 0 ? <p className="quiet">It runs in the background. You can watch it, and cancel it, under Operations.</p> : null}
        </>
      ) : null}
    </Confirm>
  );
}
