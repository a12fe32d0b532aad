/** What happened to a document: working and waiting told apart, every attempt's error with its remedy. */

import { useApi } from "../../api/queries";
import { A } from "../../app/address";
import { duration } from "../../lib/time";
import { Answer } from "../../ui/notices";
import { Section } from "../../ui/page";
import { Time, useNow } from "../../ui/values";
import { Icon, type IconName } from "../../ui/icons";
import { Reason, says } from "./reason";
import { changedVersions, grown, shares, stageName, totals, type Step } from "./timeline";

export function Timeline({ documentId }: { documentId: string }) {
  const found = useApi<{ items: Step[] }>(`/v1/documents/${documentId}/timeline`, {
    live: [`document:${documentId}`, "documents"],
  });
  return (
    <Section title="Timeline">
      <Answer of={found}>{(answer) => <Growing steps={answer.items} />}</Answer>
    </Section>
  );
}

/** The part that is not over grows until the next answer. */
function Growing({ steps }: { steps: readonly Step[] }) {
  const now = useNow();
  return <Steps steps={steps.map((step) => grown(step, now))} />;
}

function Steps({ steps }: { steps: readonly Step[] }) {
  const sizes = shares(steps);
  const { working, waiting } = totals(steps);
  let before: Step | undefined;
  return (
    <>
      <div className="time-bar" role="img" aria-label={`${duration(working)} of work, ${duration(waiting)} of waiting`}>
        {steps.map((step, index) =>
          step.kind === "event" ? null : (
            <span
              key={index}
              className={step.kind === "work" ? (step.reason_code ? "bad" : "work") : "wait"}
              style={{ width: `${sizes[index]}%` }}
              title={`${step.stage}: ${duration(step.seconds)} ${step.kind === "work" ? "of work" : "of waiting"}`}
            />
          ),
        )}
      </div>
      <p className="time-totals">
        <span className="key work">{duration(working)} working</span>
        <span className="key wait">{duration(waiting)} waiting</span>
      </p>
      <ol className="timeline">
        {steps.map((step, index) => {
          const changed = step.kind === "work" ? changedVersions(before, step) : [];
          if (step.kind === "work") before = step;
          const last = steps[index - 1];
          // The event that ends a document repeats the error of the attempt before it.
          const repeats = step.kind === "event" && last?.message === step.message;
          return <StepLine key={index} step={repeats ? { ...step, message: null, remedy: null } : step} isBad={Boolean(step.message && step.reason_code)} changed={changed} />;
        })}
      </ol>
    </>
  );
}

const ICONS: Readonly<Record<Step["kind"], IconName>> = { work: "running", wait: "waiting", event: "done" };

function StepLine({ step, isBad, changed }: { step: Step; isBad: boolean; changed: readonly string[] }) {
  const bad = step.kind !== "wait" && isBad;
  const open = step.kind !== "event" && !step.to;
  const versions = Object.entries(step.versions ?? {}).filter(([, version]) => version);
  return (
    <li className={`step ${bad ? "bad" : step.kind}${open ? " open" : ""}`}>
      <Icon name={bad ? "failed" : step.kind === "work" && !open ? "done" : ICONS[step.kind]} />
      <div className="step-body">
        <p className="step-head">
          <strong>{stageName(step.stage)}</strong>
          {step.attempt ? <span className="quiet">attempt {step.attempt}</span> : null}
          {step.kind === "event" ? null : (
            <span className={`step-time ${step.kind}`}>
              {step.kind === "work" ? "worked" : "waited"} {duration(step.seconds)}
              {open ? " so far" : ""}
            </span>
          )}
          <span className="spacer" />
          <span className="quiet">
            <Time at={step.from} />
          </span>
        </p>
        {step.message ? (
          <p className={bad ? "tone-text-bad" : ""}>
            <Reason code={step.reason_code} message={step.message} />
          </p>
        ) : step.reason_code ? (
          <p>
            <code>{step.reason_code}</code>
          </p>
        ) : null}
        {step.remedy && !says(step.message ?? "", step.remedy) ? (
          <p className="remedy">
            <Icon name="chevron" /> {step.remedy}
          </p>
        ) : null}
        {versions.length || step.worker ? (
          <p className="quiet small">
            {step.worker ? (
              <>
                on <A to={`/workers?q=${encodeURIComponent(step.worker)}`}>{step.worker}</A>
              </>
            ) : null}
            {versions.map(([name, version], index) => (
              <span key={name}>
                {index || step.worker ? " · " : ""}
                <span className={changed.includes(name) ? "changed" : ""} title={changed.includes(name) ? "another version than in the attempt before" : undefined}>
                  {name} {version}
                </span>
              </span>
            ))}
          </p>
        ) : null}
      </div>
    </li>
  );
}
