/** Workers and what they run, and the schedules they fire. */

import { patch, post } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import type { Schedule, WorkerRow } from "../../api/operate";
import { A } from "../../app/address";
import { useMayRun } from "../../app/session";
import { count } from "../../lib/numbers";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Duration, Name, Since, Time } from "../../ui/values";

const right = (text: string) => ({ text, right: true }) as const;

export default function WorkersPage() {
  const workers = useApi<{ items: WorkerRow[] }>("/v1/workers", { live: ["workers"], everySeconds: 10 });
  return (
    <Page title="Workers" lead="A worker that misses its heartbeats is silent; when its tasks were taken back by others it is lost.">
      <Answer of={workers}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No worker has run within the last day" command="penstock worker">
              Without one nothing is processed.
            </EmptyState>
          ) : (
            <Section title="Workers">
              <Table label="Workers" head={["Worker", "State", right("Tasks now"), right("Last beat"), right("Up"), "Queues", "Versions"]}>
                {items.map((worker) => (
                  <tr key={worker.worker_id}>
                    <td>
                      <Name>{worker.worker}</Name>
                    </td>
                    <td>
                      <StateBadge state={worker.state} />
                    </td>
                    <td className="right">{count(worker.leases)}</td>
                    <td className="right">
                      <Duration seconds={worker.silent_seconds} />
                    </td>
                    <td className="right">
                      {worker.state === "alive" ? <Since at={worker.started_at} /> : <Time at={worker.started_at} />}
                    </td>
                    <td className="wrap">
                      {worker.queues.map((queue, index) => (
                        <span key={queue}>
                          {index ? ", " : ""}
                          <A to={`/queues/${encodeURIComponent(queue)}`}>{queue}</A>
                        </span>
                      ))}
                    </td>
                    <td className="wrap quiet">
                      {Object.entries(worker.versions)
                        .map(([name, version]) => `${name} ${version}`)
                        .join(", ")}
                    </td>
                  </tr>
                ))}
              </Table>
            </Section>
          )
        }
      </Answer>
      <Schedules />
    </Page>
  );
}

function Schedules() {
  const found = useApi<{ items: Schedule[] }>("/v1/schedules", { live: ["schedules", "tasks"], everySeconds: 30 });
  const may = useMayRun();
  const run = useAction(
    (schedule: Schedule) => post<{ task_id: number }>(`/v1/schedules/${encodeURIComponent(schedule.schedule_name)}/run`),
    ["tasks", "schedules"],
    ({ task_id }) => toast(<>Started as task <A to={`/tasks/${task_id}`}>{task_id}</A>.</>),
  );
  const toggle = useAction(
    (schedule: Schedule) => patch(`/v1/schedules/${encodeURIComponent(schedule.schedule_name)}`, { enabled: !schedule.enabled }),
    ["schedules"],
  );
  return (
    <Section title="Schedules">
      <ErrorBox error={run.error ?? toggle.error} />
      <Answer of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">None. A schedule is declared beside a task type and appears when its worker starts.</p>
          ) : (
            <Table label="Schedules" head={["Schedule", "When", "Task", right("Last run"), right("Next run"), ...(may ? [right("")] : [])]}>
              {items.map((schedule) => (
                <tr key={schedule.schedule_name}>
                  <td>
                    <Name>{schedule.schedule_name}</Name>
                  </td>
                  <td className="nowrap">
                    <code>{schedule.cron}</code> <span className="quiet">{schedule.timezone}</span>
                  </td>
                  <td>
                    <Name>{schedule.task_type}</Name>
                  </td>
                  <td className="right">
                    {schedule.last_task_id ? (
                      <A to={`/tasks/${schedule.last_task_id}`}>
                        <Time at={schedule.last_at} />
                      </A>
                    ) : (
                      <Time at={schedule.last_at} />
                    )}
                  </td>
                  <td className="right">{schedule.enabled ? <Time at={schedule.next_at} /> : <StateBadge state="paused" word="off" />}</td>
                  {may ? (
                    <td className="right">
                      <button type="button" disabled={run.isPending} onClick={() => run.mutate(schedule)}>
                        Run now
                      </button>{" "}
                      <button type="button" disabled={toggle.isPending} onClick={() => toggle.mutate(schedule)}>
                        {schedule.enabled ? "Switch off" : "Switch on"}
                      </button>
                    </td>
                  ) : null}
                </tr>
              ))}
            </Table>
          )
        }
      </Answer>
    </Section>
  );
}
