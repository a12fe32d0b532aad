/** One task: why it is where it is, its attempts, its payload, and what can be done. */

import { useState } from "react";
import { post } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import type { Task } from "../../api/operate";
import { A, useGo, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { BulkDialog } from "../../ui/bulk-bar";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { Json } from "../../ui/json";
import { Answer, ErrorBox } from "../../ui/notices";
import { Facts, Page, Section } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Id, Name, Since, Time, Told } from "../../ui/values";
import { REPLAY } from "../failures/actions";
import { Attempts } from "./attempts";

const OPEN = ["ready", "running", "leased", "waiting", "parked"];

export default function TaskPage() {
  const id = useParam("task");
  const found = useApi<Task>(`/v1/tasks/${id}`, { live: ["tasks", "dead", "queues", "workers"] });
  const task = found.data;
  return (
    <Page
      title={task ? `${task.task_type} ${id}` : `Task ${id}`}
      back={{ to: "/tasks", text: "Tasks" }}
      lead={task ? <StateBadge state={task.state ?? "deleted"} word={task.state === null ? "history deleted" : undefined} /> : null}
      actions={task ? <Actions task={task} /> : null}
    >
      <Answer of={found}>
        {(shown) => (
          <>
            <Explanation task={shown} />
            <Section title="Task">
              <Facts
                facts={[
                  ["Queue", <A to={`/queues/${encodeURIComponent(shown.queue)}`}><bdi>{shown.queue}</bdi></A>],
                  ["Priority", shown.priority],
                  shown.tenant ? ["Tenant", <Name>{shown.tenant}</Name>] : null,
                  ["Id", <Id value={shown.task_id} whole />],
                  ["Enqueued", <Time at={shown.enqueued_at} exact />],
                  ["Scheduled for", <Time at={shown.scheduled_at} exact />],
                  shown.due_at ? ["Due", <Time at={shown.due_at} />] : null,
                  ["Keys", [shown.has_unique_key ? "unique" : "", shown.has_limit_key ? "limit" : ""].filter(Boolean).join(", ") || "none"],
                ]}
              />
            </Section>
            {shown.lease ? <Lease lease={shown.lease} /> : null}
            <Attempts task={shown} />
            <Payload task={shown} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function Explanation({ task }: { task: Task }) {
  if (task.explanation.length === 0) return null;
  return (
    <Section title={OPEN.includes(task.state ?? "") && task.state !== "running" ? "Why it is not running" : "What happened"}>
      <ul className="plain-list">
        {task.explanation.map((each) => (
          <li key={each.reason + each.explanation}>
            <p>
              <Told>{each.explanation}</Told>
            </p>
            {each.remedy ? (
              <p className="quiet">
                <bdi>{each.remedy}</bdi>
              </p>
            ) : null}
            {each.link ? (
              <A to={each.link} className="holder">
                {OPEN.includes(task.state ?? "") ? "See what is holding it up" : "See all failures with this cause"} <Icon name="chevron" />
              </A>
            ) : null}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Lease({ lease }: { lease: NonNullable<Task["lease"]> }) {
  return (
    <Section title="Running now">
      <Facts
        facts={[
          ["Worker", <A to="/workers"><Name>{lease.worker ?? `worker ${lease.worker_id}`}</Name></A>],
          ["For", <Since at={lease.claimed_at} />],
          ["Attempt", lease.attempt],
          lease.deadline_at ? ["Must end", <Time at={lease.deadline_at} />] : null,
          lease.losses ? ["Workers lost so far", lease.losses] : null,
        ]}
      />
    </Section>
  );
}

function Payload({ task }: { task: Task }) {
  const may = useMay("operate");
  const [whole, setWhole] = useState<{ payload: unknown } | null>(null);
  const reveal = useAction((_: null) => post<{ payload: unknown }>(`/v1/tasks/${task.task_id}/reveal`), ["audit"], setWhole);
  return (
    <Section
      title="Payload"
      actions={
        whole ? (
          <button type="button" onClick={() => setWhole(null)}>
            Hide again
          </button>
        ) : task.payload_redacted && may ? (
          <button type="button" disabled={reveal.isPending} onClick={() => reveal.mutate(null)} title="Who revealed it is written to the audit log">
            Reveal (audited)
          </button>
        ) : null
      }
    >
      <ErrorBox error={reveal.error} />
      <Json value={whole ? whole.payload : task.payload} label="payload" />
      {task.payload_redacted && !whole ? (
        <p className="quiet">Parts are hidden. {may ? "Revealing them leaves a row in the audit log." : "Revealing them needs the operator role."}</p>
      ) : null}
    </Section>
  );
}

function Actions({ task }: { task: Task }) {
  const may = useMay("operate");
  const go = useGo();
  const [asked, setAsked] = useState<"cancel" | "again" | "replay" | null>(null);
  const [payload, setPayload] = useState("");
  const path = `/v1/tasks/${task.task_id}`;
  const close = () => setAsked(null);
  const cancel = useAction((_: null) => post<{ outcome: string }>(`${path}/cancel`), ["tasks", "queues"], ({ outcome }) => {
    close();
    toast(outcome === "requested" ? "The task was asked to stop." : outcome === "ended" ? "The task had already ended." : "The task is cancelled.");
  });
  const now = useAction((_: null) => post<{ due: boolean }>(`${path}/run-now`), ["tasks", "queues"], ({ due }) =>
    toast(due ? "The task is due now." : "The task was not waiting."),
  );
  const again = useAction(
    async (_: null) => {
      const same = payload.trim() === "" || payload === JSON.stringify(task.payload, null, 2);
      return post<{ task_id: number }>(`${path}/again`, same ? {} : { payload: JSON.parse(payload) as unknown });
    },
    ["tasks", "queues"],
    ({ task_id }) => {
      close();
      toast(`Enqueued as task ${task_id}.`);
      go(`/tasks/${task_id}`);
    },
  );
  if (!may) return null;
  return (
    <>
      {now.error ? <span className="tone-text-bad" role="alert">{now.error.message}</span> : null}
      {task.state === "waiting" ? (
        <button type="button" disabled={now.isPending} onClick={() => now.mutate(null)}>
          Run now
        </button>
      ) : null}
      {task.state === "dead" ? (
        <button type="button" className="primary" onClick={() => setAsked("replay")}>
          Replay …
        </button>
      ) : null}
      <button
        type="button"
        onClick={() => {
          setPayload(JSON.stringify(task.payload, null, 2));
          setAsked("again");
        }}
      >
        Run again …
      </button>
      {OPEN.includes(task.state ?? "") ? (
        <button type="button" className="danger" onClick={() => setAsked("cancel")}>
          Cancel …
        </button>
      ) : null}
      {asked === "replay" ? (
        <BulkDialog
          action={REPLAY}
          filter={{ ids: [String(task.task_id)] }}
          changes={["tasks", "dead", "queues"]}
          onClose={close}
          onStarted={() => {
            close();
            toast("The dead letter goes back into its queue.");
          }}
        />
      ) : null}
      <Confirm open={asked === "cancel"} onClose={close} title={`Cancel task ${task.task_id}?`} verb="Cancel 1 task" danger busy={cancel.isPending} error={cancel.error} onConfirm={() => cancel.mutate(null)}>
        <p>{task.state === "running" ? "It is running: it is asked to stop, and stops where its handler allows." : "It will not run."}</p>
      </Confirm>
      <Confirm open={asked === "again"} onClose={close} title="Run a copy of this task" verb="Enqueue 1 task" busy={again.isPending} error={again.error} onConfirm={() => again.mutate(null)}>
        <p>Enqueues a new {task.task_type} task, due now. This task keeps its history.</p>
        <label className="field">
          Payload
          <textarea value={payload} spellCheck={false} onChange={(event) => setPayload(event.target.value)} />
          {task.payload_redacted ? <span className="quiet small">Hidden parts keep their values as long as you leave the payload unchanged.</span> : null}
        </label>
      </Confirm>
    </>
  );
}
