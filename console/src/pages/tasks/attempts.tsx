/** Every attempt of a task, newest first: outcome, worker, waiting and working time, the error and where it was raised. */

import { useState } from "react";
import type { Attempt, Task } from "../../api/operate";
import { A } from "../../app/address";
import { plural } from "../../lib/numbers";
import { Section } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Duration, Name, Time } from "../../ui/values";
import { Reason } from "../documents/reason";

export function Attempts({ task }: { task: Task }) {
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const attempts = [...task.attempts].reverse();
  const toggle = (id: number) => setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen.slice(-1), id]);
  const pair = chosen.length === 2 ? [...chosen].sort((a, b) => a - b) : attempts.length === 2 ? attempts.map((each) => each.attempt_id).reverse() : null;
  return (
    <Section
      title={attempts.length ? plural(attempts.length, "attempt") : "Attempts"}
      actions={
        pair ? (
          <A className="button" to={`/tasks/${task.task_id}/compare?a=${pair[0]}&b=${pair[1]}`}>
            Compare the two
          </A>
        ) : attempts.length > 2 ? (
          <span className="quiet">Choose two to compare them.</span>
        ) : null
      }
    >
      {attempts.length === 0 ? <p className="quiet">None has ended yet.</p> : null}
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.attempt_id} className="attempt">
            <div className="attempt-line">
              {attempts.length > 2 ? (
                <input type="checkbox" aria-label={`Compare attempt ${attempt.attempt}`} checked={chosen.includes(attempt.attempt_id)} onChange={() => toggle(attempt.attempt_id)} />
              ) : null}
              <b>{attempt.attempt}</b>
              <StateBadge state={attempt.outcome} />
              <span className="quiet">
                waited <Duration seconds={attempt.waited_seconds} />, ran <Duration seconds={attempt.ran_seconds} />
              </span>
              <span className="spacer" />
              {attempt.worker ? <Name>{attempt.worker}</Name> : null}
              <Time at={attempt.closed_at} />
            </div>
            <Bar attempt={attempt} />
            <AttemptError attempt={attempt} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Waiting and working as lengths. */
function Bar({ attempt }: { attempt: Attempt }) {
  const waited = attempt.waited_seconds ?? 0;
  const ran = attempt.ran_seconds ?? 0;
  const whole = waited + ran;
  if (whole === 0) return null;
  return (
    <div className="wait-bar" aria-hidden="true">
      <span className="waited" style={{ width: `${(100 * waited) / whole}%` }} />
      <span className="ran" style={{ width: `${(100 * ran) / whole}%` }} />
    </div>
  );
}

export function AttemptError({ attempt }: { attempt: Attempt }) {
  if (!attempt.error_message && !attempt.error_code) return null;
  return (
    <div className="attempt-error">
      <p>
        <Reason code={attempt.error_code} message={attempt.error_message} />
      </p>
      {attempt.traceback?.length ? (
        <details>
          <summary>Traceback</summary>
          <pre>{attempt.traceback.join("\n")}</pre>
        </details>
      ) : null}
    </div>
  );
}

