/** Queues: depth, rate and latency of each, and who works on it. */

import { useApi } from "../../api/queries";
import type { QueueRow } from "../../api/operate";
import { A } from "../../app/address";
import { useMayRun } from "../../app/session";
import { count, rate } from "../../lib/numbers";
import { Answer, EmptyState } from "../../ui/notices";
import { Page, Table } from "../../ui/page";
import { StateBadge, StateCount } from "../../ui/state";
import { Duration, Time } from "../../ui/values";
import { PauseButton } from "./pause-button";

const right = (text: string) => ({ text, right: true }) as const;

export default function QueuesPage() {
  const found = useApi<{ items: QueueRow[] }>("/v1/queues", { live: ["queues", "tasks", "dead", "workers"], everySeconds: 15 });
  return (
    <Page title="Queues" lead="Depth now, throughput of the last five minutes, latency of the last hour.">
      <Answer of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No queue yet" command="penstock worker">
              A queue appears when a worker declares it or a task is put into it.
            </EmptyState>
          ) : (
            <div className="section">
              <QueueTable queues={items} />
            </div>
          )
        }
      </Answer>
    </Page>
  );
}

function QueueTable({ queues }: { queues: readonly QueueRow[] }) {
  const may = useMayRun();
  const head = ["Queue", right("Ready"), right("Running"), right("Waiting"), right("Parked"), right("Dead"), right("Oldest ready"), right("Done"), right("p95 wait"), right("p95 run"), right("Workers"), ...(may ? [right("")] : [])];
  return (
    <Table label="Queues" head={head}>
      {queues.map((queue) => (
        <tr key={queue.queue}>
          <td>
            <A to={`/queues/${encodeURIComponent(queue.queue)}`} className="strong-link">
              <bdi>{queue.queue}</bdi>
            </A>{" "}
            {queue.paused ? (
              <>
                <StateBadge state="paused" />{" "}
                <span className="quiet small">
                  {queue.paused_by ? `by ${queue.paused_by} ` : ""}
                  <Time at={queue.paused_at} />
                </span>
              </>
            ) : null}
          </td>
          {(["ready", "running", "waiting", "parked", "dead"] as const).map((state) => (
            <td key={state} className="right">
              <A to={`/tasks?queue=${encodeURIComponent(queue.queue)}&state=${state}`} className="number-link" aria-label={`${queue[state]} ${state} in ${queue.queue}`}>
                <StateCount state={state} n={queue[state]} text={count(queue[state], queue.approximate && queue[state] > 10_000)} />
              </A>
            </td>
          ))}
          <td className="right">
            <Duration seconds={queue.oldest_ready_seconds} />
          </td>
          <td className="right">{rate(queue.per_minute)}</td>
          <td className="right">
            <Duration seconds={queue.p95_wait_seconds} />
          </td>
          <td className="right">
            <Duration seconds={queue.p95_run_seconds} />
          </td>
          <td className="right">
            {queue.workers === 0 ? (
              <span className={queue.ready > 0 ? "tone-text-bad" : "zero"}>none</span>
            ) : (
              <span title={`${queue.idle_workers} of them wait for work`}>{count(queue.workers)}</span>
            )}
          </td>
          {may ? (
            <td className="right">
              <PauseButton queue={queue} />
            </td>
          ) : null}
        </tr>
      ))}
    </Table>
  );
}
