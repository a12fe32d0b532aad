/** One process: its attempts, its next check, and a new start after it gave up. */

import { useState } from "react";
import { post } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import type { Process } from "../../api/operate";
import { A, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { Confirm } from "../../ui/dialog";
import { Answer } from "../../ui/notices";
import { Facts, Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Age, Duration, Name, Time } from "../../ui/values";

export default function ProcessPage() {
  const name = useParam("process");
  const root = useParam("root");
  const path = `/v1/processes/${encodeURIComponent(name)}/${encodeURIComponent(root)}`;
  const found = useApi<Process>(path, { live: ["processes", "tasks"] });
  const may = useMay("operate");
  const [asked, setAsked] = useState(false);
  const retry = useAction((_: null) => post(`${path}/retry`), ["processes"], () => {
    setAsked(false);
    toast("The process was started again.");
  });
  const process = found.data;
  return (
    <Page
      title={`${name} ${root}`}
      back={{ to: "/processes", text: "Processes" }}
      lead={process ? <StateBadge state={process.state} /> : null}
      actions={
        may && process?.state === "failed" ? (
          <button type="button" className="primary" onClick={() => setAsked(true)}>
            Start again …
          </button>
        ) : null
      }
    >
      <Answer of={found}>
        {(shown) => (
          <>
            <Section title="Process">
              <Facts
                facts={[
                  ["Channel", shown.channel],
                  shown.tenant ? ["Tenant", <Name>{shown.tenant}</Name>] : null,
                  ["Started", <Time at={shown.created_at} />],
                  shown.opened_at && shown.opened_at !== shown.created_at ? ["Started again", <Time at={shown.opened_at} />] : null,
                  shown.next_check_at ? ["Next check", <Time at={shown.next_check_at} />] : null,
                  shown.late_seconds && shown.late_seconds > 0 ? ["Late by", <Age seconds={shown.late_seconds} />] : null,
                  shown.supervisor_task_id ? ["Supervisor", <A to={`/tasks/${shown.supervisor_task_id}`}>task {shown.supervisor_task_id}</A>] : null,
                  ["Attempts allowed", shown.max_attempts],
                  ...Object.entries(shown.about).map(([key, value]) => [key.replaceAll("_", " "), <Name>{String(value)}</Name>] as const),
                ]}
              />
            </Section>
            <Section title="Attempts">
              {shown.attempts.length === 0 ? <p className="quiet">None yet.</p> : null}
              {shown.attempts.length ? (
                <Table label="Attempts" head={[{ text: "No.", right: true }, "Outcome", "Message", "Task", { text: "Started", right: true }, { text: "Took", right: true }]}>
                  {[...shown.attempts].reverse().map((attempt) => (
                    <tr key={attempt.attempt_id} className={attempt.before_restart ? "quiet" : ""}>
                      <td className="right">{attempt.number}</td>
                      <td>
                        <StateBadge state={attempt.outcome ?? "running"} />
                      </td>
                      <td className="wrap">
                        {attempt.error_message ? <bdi>{attempt.error_message}</bdi> : <span className="zero">–</span>}
                        {attempt.before_restart ? <span className="quiet"> (before it was started again)</span> : null}
                      </td>
                      <td>{attempt.task_id ? <A to={`/tasks/${attempt.task_id}`}>{attempt.task_id}</A> : <span className="zero">–</span>}</td>
                      <td className="right">
                        <Time at={attempt.started_at} />
                      </td>
                      <td className="right">
                        {attempt.ended_at ? <Duration seconds={(Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)) / 1000} /> : <span className="zero">–</span>}
                      </td>
                    </tr>
                  ))}
                </Table>
              ) : null}
            </Section>
          </>
        )}
      </Answer>
      <Confirm open={asked} onClose={() => setAsked(false)} title={`Start ${name} ${root} again?`} verb="Start 1 process again" busy={retry.isPending} error={retry.error} onConfirm={() => retry.mutate(null)}>
        <p>Earlier failures no longer count towards its {process?.max_attempts} attempts.</p>
      </Confirm>
    </Page>
  );
}
