/** Re-indexes of the tenant's projects: how far each is, when it will end, what it cost; stop and resume. */

import { post, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useMay, useSession, useTenant } from "../../app/session";
import { count, plural } from "../../lib/numbers";
import { duration } from "../../lib/time";
import { ErrorBox } from "../../ui/notices";
import { Section } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";

type Run = Schemas["ReindexRun"];

export function Reindexes() {
  const [tenant] = useTenant();
  const session = useSession();
  const found = useApi<Schemas["ReindexPage"]>("/v1/reindexes", {
    query: { limit: 5 },
    live: ["operations"],
    enabled: Boolean(session && (!session.is_installation || tenant)),
  });
  const runs = found.data?.items ?? [];
  if (!runs.length) return null;
  return (
    <Section title="Re-indexes">
      {runs.map((run) => (
        <Reindex key={run.run_id} run={run} />
      ))}
    </Section>
  );
}

function Reindex({ run }: { run: Run }) {
  const may = useMay("projects:write");
  const open = run.finished_at === null;
  const act = useAction((verb: string) => post(`/v1/reindexes/${run.run_id}/${verb}`), ["operations"]);
  const verb = open ? "stop" : run.state === "done" ? null : "resume";
  return (
    <div className="operation-card" role="status" aria-label={`Re-index of ${run.project}`}>
      <div className="operation-line">
        <StateBadge state={run.state} />
        <span>
          <Name>{run.project}</Name> with <Name>{run.embedder}</Name>
        </span>
        <span className="spacer" />
        <Time at={run.started_at} />
        {may && verb ? (
          <button type="button" disabled={act.isPending} onClick={() => act.mutate(verb)}>
            {open ? "Stop" : "Resume"}
          </button>
        ) : null}
      </div>
      <div className="progress" role="progressbar" aria-valuemin={0} aria-valuemax={run.documents} aria-valuenow={run.done} aria-label="Progress">
        <span className="tone-back-good" style={{ width: `${(100 * run.done) / Math.max(1, run.documents)}%` }} />
      </div>
      <p className="operation-text">{facts(run).join(" · ")}</p>
      {run.reason ? <p className="small"><bdi>{run.reason}</bdi></p> : null}
      {open && run.gate?.state === "failed" && run.gate.mode === "block" ? <Gate run={run} gate={run.gate} may={may} /> : null}
      <ErrorBox error={act.error} />
    </div>
  );
}

/** What waits at the project's gate: the questions that got worse, and what to do about it. */
function Gate({ run, gate, may }: { run: Run; gate: NonNullable<Run["gate"]>; may: boolean }) {
  const act = useAction((verb: string) => post(`/v1/projects/${run.project}/gate/${verb}`), ["operations"]);
  const button = (verb: string, label: string) => (
    <button type="button" disabled={act.isPending} onClick={() => act.mutate(verb)}>
      {label}
    </button>
  );
  return (
    <div className="gate" role="group" aria-label={`Gate of ${run.project}`}>
      <p>
        It is held at the gate: {count(gate.worse_count)} of {plural(gate.questions, "question")} got worse. Each with its score before and after:
      </p>
      <ul className="small">
        {gate.worse.slice(0, 5).map((each) => (
          <li key={each.question}>
            {each.before.toFixed(2)} → {each.after.toFixed(2)} <bdi>{each.question}</bdi>
          </li>
        ))}
      </ul>
      {may ? (
        <p className="actions">
          {button("accept", "Go live anyway")} {button("cancel", "Keep the old index")}
        </p>
      ) : null}
      <ErrorBox error={act.error} />
    </div>
  );
}

function facts(run: Run): string[] {
  const { eta_seconds: eta, eta_low: low, eta_high: high } = run;
  return [
    `${count(run.done)} of ${count(run.documents)} documents`,
    ...(run.failed ? [`${count(run.failed)} failed`] : []),
    `${count(run.embedded)} texts embedded, ${count(run.reused)} reused`,
    ...(run.cost == null ? [] : [`cost ${run.cost.toFixed(2)}`]),
    ...(eta === null ? [] : [`about ${duration(eta)} left (${duration(low ?? eta)} to ${duration(high ?? eta)})`]),
  ];
}
