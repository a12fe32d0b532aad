/** Two attempts of a task side by side: outcome, times, versions, errors; what differs is marked. */

import type { ReactNode } from "react";
import { useApi } from "../../api/queries";
import type { Attempt, Task } from "../../api/operate";
import { usePageQuery, useParam } from "../../app/address";
import { diffLines } from "../../lib/compare";
import { Answer, EmptyState } from "../../ui/notices";
import { Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Duration, Time } from "../../ui/values";

export default function ComparePage() {
  const id = useParam("task");
  const [query, change] = usePageQuery();
  const found = useApi<Task>(`/v1/tasks/${id}`, { live: ["tasks"] });
  return (
    <Page title="Compare two attempts" back={{ to: `/tasks/${id}`, text: `Task ${id}` }}>
      <Answer of={found}>
        {(task) => {
          const of = (name: "a" | "b") => task.attempts.find((attempt) => String(attempt.attempt_id) === query[name]);
          const a = of("a") ?? task.attempts.at(-2);
          const b = of("b") ?? task.attempts.at(-1);
          if (!a || !b || a === b)
            return <EmptyState title="Only one attempt so far">There is nothing to compare until a task has run twice: after its first attempt failed or was lost.</EmptyState>;
          const pick = (name: "a" | "b", current: Attempt) => (
            <select aria-label={name === "a" ? "First attempt" : "Second attempt"} value={current.attempt_id} onChange={(event) => change({ a: String(a.attempt_id), b: String(b.attempt_id), [name]: event.target.value }, { replace: true })}>
              {task.attempts.map((attempt) => (
                <option key={attempt.attempt_id} value={attempt.attempt_id}>
                  Attempt {attempt.attempt}, {attempt.outcome}
                </option>
              ))}
            </select>
          );
          return <Compared a={a} b={b} pickA={pick("a", a)} pickB={pick("b", b)} />;
        }}
      </Answer>
    </Page>
  );
}

function Compared({ a, b, pickA, pickB }: { a: Attempt; b: Attempt; pickA: ReactNode; pickB: ReactNode }) {
  const versions = [...new Set([...Object.keys(a.versions), ...Object.keys(b.versions)])].sort();
  const row = (name: string, of: (attempt: Attempt) => ReactNode, same: boolean) => (
    <tr key={name} className={same ? "" : "differs"}>
      <th scope="row">
        {name}
        {same ? null : <span className="differs-mark"> differs</span>}
      </th>
      <td>{of(a)}</td>
      <td>{of(b)}</td>
    </tr>
  );
  const text = (value: string | null) => (value ? <bdi>{value}</bdi> : <span className="zero">–</span>);
  return (
    <>
      <div className="pick-two">
        {pickA}
        <span className="quiet">and</span>
        {pickB}
      </div>
      <Section title="What differs">
        <div className="compared">
        <Table label="Comparison" head={["", `Attempt ${a.attempt}`, `Attempt ${b.attempt}`]}>
          {row("Outcome", (each) => <StateBadge state={each.outcome} />, a.outcome === b.outcome)}
          {row("Ended", (each) => <Time at={each.closed_at} exact />, true)}
          {row("Worker", (each) => text(each.worker), a.worker === b.worker)}
          {row("Waited", (each) => <Duration seconds={each.waited_seconds} />, true)}
          {row("Ran", (each) => <Duration seconds={each.ran_seconds} />, true)}
          {row("Error", (each) => text(each.error_code), a.error_code === b.error_code)}
          {row("Message", (each) => text(each.error_message), a.error_message === b.error_message)}
          {versions.map((name) => row(`${name} version`, (each) => text(each.versions[name] ?? null), a.versions[name] === b.versions[name]))}
        </Table>
        </div>
        {versions.length === 0 ? <p className="quiet">The workers did not state their versions.</p> : null}
      </Section>
      {a.traceback?.length || b.traceback?.length ? (
        <Section title="Tracebacks">
          <div className="diff" role="group" aria-label="Difference of the tracebacks">
            {diffLines(a.traceback ?? [], b.traceback ?? []).map((line, index) => (
              <div key={index} className={line.only ? `only-${line.only}` : ""}>
                <span className="diff-mark">{line.only === "a" ? a.attempt : line.only === "b" ? b.attempt : ""}</span>
                <span>{line.text}</span>
              </div>
            ))}
          </div>
        </Section>
      ) : null}
    </>
  );
}
