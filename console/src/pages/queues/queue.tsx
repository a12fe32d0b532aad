/** One queue: figures, history, limits, and a form that enqueues. */

import { useMemo, useState } from "react";
import { useApi } from "../../api/queries";
import type { Queue } from "../../api/operate";
import { A, useParam, usePageQuery } from "../../app/address";
import { useMay, useMayRun } from "../../app/session";
import { count, rate } from "../../lib/numbers";
import { Chart } from "../../ui/chart";
import { Answer } from "../../ui/notices";
import { Figure, Page, Section, Table } from "../../ui/page";
import { StateBadge, toneOf } from "../../ui/state";
import { Age, Time } from "../../ui/values";
import { EnqueueDialog } from "../tasks/enqueue-dialog";
import { limitWords } from "./limit-words";
import { LimitsDialog } from "./limits-dialog";
import { PauseButton } from "./pause-button";

const SPANS = [
  ["1", "1 hour"],
  ["24", "1 day"],
  ["168", "1 week"],
] as const;

export default function QueuePage() {
  const name = useParam("queue");
  const [query, change] = usePageQuery();
  const hours = query["hours"] ?? "1";
  const found = useApi<Queue>(`/v1/queues/${encodeURIComponent(name)}`, {
    query: { hours },
    live: ["queues", "tasks", "dead", "workers"],
  });
  const may = useMay("operate");
  const mayRun = useMayRun();
  const [dialog, setDialog] = useState<"enqueue" | "limits" | null>(null);
  const queue = found.data;
  return (
    <Page
      title={name}
      back={{ to: "/queues", text: "Queues" }}
      lead={
        queue?.paused ? (
          <>
            <StateBadge state="paused" /> {queue.paused_by ? `by ${queue.paused_by} ` : ""}
            <Time at={queue.paused_at} />
          </>
        ) : null
      }
      actions={
        may && queue ? (
          <>
            {mayRun ? (
              <>
                <PauseButton queue={queue} />
                <button type="button" onClick={() => setDialog("limits")}>
                  Limits …
                </button>
              </>
            ) : null}
            <button type="button" className="primary" onClick={() => setDialog("enqueue")}>
              Enqueue …
            </button>
          </>
        ) : null
      }
    >
      <Answer of={found}>
        {(shown) => (
          <>
            <Figures queue={shown} />
            <Section
              title="History"
              actions={
                <div className="states" role="group" aria-label="Span">
                  {SPANS.map(([value, text]) => (
                    <A key={value} to={`/queues/${encodeURIComponent(name)}?hours=${value}`} aria-current={value === hours ? "true" : undefined} onClick={(event) => { event.preventDefault(); change({ hours: value === "1" ? undefined : value }, { replace: true }); }}>
                      {text}
                    </A>
                  ))}
                </div>
              }
            >
              <History queue={shown} />
            </Section>
            <Limits queue={shown} />
          </>
        )}
      </Answer>
      {queue && dialog === "limits" ? <LimitsDialog queue={queue} onClose={() => setDialog(null)} /> : null}
      {dialog === "enqueue" ? <EnqueueDialog queue={name} onClose={() => setDialog(null)} /> : null}
    </Page>
  );
}

function Figures({ queue }: { queue: Queue }) {
  const to = (state: string) => `/tasks?queue=${encodeURIComponent(queue.queue)}&state=${state}`;
  return (
    <div className="figures">
      {(["ready", "running", "waiting", "parked", "dead"] as const).map((state) => (
        <Figure
          key={state}
          name={state}
          value={count(queue[state], queue.approximate && queue[state] > 10_000)}
          to={to(state)}
          tone={queue[state] > 0 && state === "dead" ? toneOf(state) : undefined}
          note={state === "ready" && queue.oldest_ready_seconds !== null ? <>oldest <Age seconds={queue.oldest_ready_seconds} /></> : undefined}
        />
      ))}
      <Figure name="done" value={rate(queue.per_minute)} note="last five minutes" />
      <Figure
        name="workers"
        value={count(queue.workers)}
        note={queue.workers === 0 ? "no worker serves it" : `${count(queue.idle_workers)} idle`}
        to="/workers"
        tone={queue.workers === 0 && queue.ready > 0 ? "bad" : undefined}
      />
    </div>
  );
}

function History({ queue }: { queue: Queue }) {
  const { history } = queue;
  const at = useMemo(() => history.map((sample) => sample.at), [history]);
  const depth = useMemo(
    () => [
      { label: "ready", colour: "--wait", values: history.map((sample) => sample.ready) },
      { label: "running", colour: "--run", values: history.map((sample) => sample.running) },
      { label: "waiting", colour: "--hold", values: history.map((sample) => sample.waiting), dash: true },
    ],
    [history],
  );
  const ended = useMemo(
    () => [
      { label: "done", colour: "--good", values: history.map((sample) => sample.done) },
      { label: "failed", colour: "--bad", values: history.map((sample) => sample.failed) },
    ],
    [history],
  );
  const latency = useMemo(
    () => [
      { label: "p95 wait", colour: "--wait", values: history.map((sample) => sample.p95_wait_seconds) },
      { label: "p95 run", colour: "--run", values: history.map((sample) => sample.p95_run_seconds) },
    ],
    [history],
  );
  if (history.length < 2) return <p className="quiet">Not enough samples yet: one is taken every minute while a worker runs.</p>;
  return (
    <div className="charts">
      <figure>
        <figcaption>Depth</figcaption>
        <Chart label="Depth" at={at} lines={depth} />
      </figure>
      <figure>
        <figcaption>Ended</figcaption>
        <Chart label="Ended" at={at} lines={ended} />
      </figure>
      <figure>
        <figcaption>Latency</figcaption>
        <Chart label="Latency" at={at} lines={latency} unit="seconds" />
      </figure>
    </div>
  );
}

function Limits({ queue }: { queue: Queue }) {
  return (
    <Section title="Limits">
      {queue.limits.length === 0 ? (
        <p className="quiet">None: workers run as many tasks as they have slots for.</p>
      ) : (
        <Table label="Limits" head={["Of", "At most", "Rate"]}>
          {queue.limits.map((limit) => {
            const words = limitWords(limit);
            return (
              <tr key={limit.scope + (limit.key_hash ?? "")}>
                <td>{words.of}</td>
                <td>{words.running}</td>
                <td>{words.rate}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </Section>
  );
}
