/** Overview: the path of a document as a picture, and in words whether all is well. */

import { useApi } from "../../api/queries";
import type { Overview, Stage } from "../../api/operate";
import { A } from "../../app/address";
import { compact, count, plural, rate } from "../../lib/numbers";
import { Answer, EmptyState } from "../../ui/notices";
import { Figure, Page, Section } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Age, Duration, Name } from "../../ui/values";
import { Pipe, StageHistory } from "./pipe";

const NAMES: Readonly<Record<Stage["stage"], { title: string; status: string; now: string }>> = {
  received: { title: "Received", status: "pending", now: "waiting" },
  parsing: { title: "Parsing", status: "processing", now: "in progress" },
  embedding: { title: "Embedding", status: "embedding", now: "in progress" },
  indexed: { title: "Indexed", status: "indexed", now: "searchable" },
};

export default function OverviewPage() {
  const found = useApi<Overview>("/v1/overview", {
    live: ["documents", "queues", "tasks", "dead", "workers", "sources"],
  });
  return (
    <Page title="Overview">
      <Answer of={found}>
        {(overview) => (
          <>
            <Verdict verdict={overview.verdict} />
            <Path overview={overview} />
            <Numbers overview={overview} />
            <div className="columns">
              <SourcesNeeding sources={overview.sources_needing} />
              <Usage usage={overview.usage} />
            </div>
          </>
        )}
      </Answer>
    </Page>
  );
}

function Verdict({ verdict }: { verdict: Overview["verdict"] }) {
  return (
    <div className={`verdict ${verdict.state}`} role="status" aria-label="Verdict">
      <StateBadge state={verdict.state} />
      {verdict.sentences.length === 0 ? (
        <p>Nothing has failed, and nothing needs your attention.</p>
      ) : (
        <ul>
          {verdict.sentences.map((sentence) => (
            <li key={sentence.text}>
              <A to={sentence.link}>
                <bdi>{sentence.text}</bdi>
              </A>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Path({ overview }: { overview: Overview }) {
  const { documents, stages } = overview;
  const whole = documents.pending + documents.processing + documents.embedding + documents.indexed + documents.skipped + documents.failed;
  if (whole === 0)
    return (
      <Section title="The path of a document">
        <EmptyState title="No documents yet" command="penstock ingest file.pdf">
          Upload one or connect a source, and watch it move through the stages here.
        </EmptyState>
      </Section>
    );
  const most = Math.max(1, ...stages.map((stage) => stage.waiting + stage.running));
  return (
    <Section title="The path of a document" actions={<span className="quiet">the last hour</span>}>
      <ol className="path">
        {stages.map((stage) => {
          const named = NAMES[stage.stage];
          const now = stage.stage === "indexed" ? documents.indexed : stage.waiting + stage.running;
          return (
            <li key={stage.stage} className="path-stage">
              <A to={`/documents?status=${named.status}`} className="path-now">
                <span className="path-name">{named.title}</span>
                <span>
                  <b className={now === 0 ? "zero" : ""}>{count(now, documents.approximate && now >= 100_000)}</b> {named.now}
                </span>
              </A>
              <Pipe
                level={stage.stage === "indexed" ? 0.55 : (stage.waiting + stage.running) / most}
                flowing={stage.rate_per_minute > 0}
                gate={stage.stage !== "indexed"}
              />
              <StageHistory stage={stage} />
              <dl>
                <div>
                  <dt>passed</dt>
                  <dd>{count(stage.done_hour)}</dd>
                </div>
                <div>
                  <dt>failed</dt>
                  <dd className={stage.failed_hour > 0 ? "tone-text-bad" : "zero"}>{count(stage.failed_hour)}</dd>
                </div>
                <div>
                  <dt>rate</dt>
                  <dd>{rate(stage.rate_per_minute)}</dd>
                </div>
                <div>
                  <dt title="19 of 20 documents took at most this long">p95</dt>
                  <dd>
                    <Duration seconds={stage.p95_seconds} />
                  </dd>
                </div>
              </dl>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}

function Numbers({ overview }: { overview: Overview }) {
  const { documents, workers, oldest_waiting: oldest } = overview;
  const troubled = workers.silent + workers.lost;
  return (
    <div className="figures">
      <Figure
        name="Oldest waiting"
        value={oldest ? <Age seconds={oldest.seconds} /> : "none"}
        note={oldest ? <Name>{oldest.name ?? "unnamed"}</Name> : "nothing is waiting"}
        {...(oldest ? { to: `/documents/${oldest.document_id}` } : {})}
      />
      <Figure
        name="Failed documents"
        value={count(overview.failed_documents, documents.approximate && overview.failed_documents >= 100_000)}
        note={overview.failed_documents ? "see why, by cause" : "none"}
        to="/failures?kind=document"
        tone={overview.failed_documents ? "bad" : undefined}
      />
      <Figure
        name="Dead letters"
        value={count(overview.dead)}
        note={overview.dead ? "tasks out of attempts" : "none"}
        to="/failures?kind=task"
        tone={overview.dead ? "bad" : undefined}
      />
      <Figure name="Skipped" value={count(documents.skipped)} note="each with its reason" to="/documents?status=skipped" />
      <Figure
        name="Workers"
        value={count(workers.alive)}
        note={troubled ? `${count(troubled)} not responding` : workers.alive ? "all responding" : "none running"}
        to="/workers"
        tone={workers.alive === 0 ? "bad" : troubled ? "warn" : undefined}
      />
    </div>
  );
}

function SourcesNeeding({ sources }: { sources: Overview["sources_needing"] }) {
  return (
    <Section title="Sources that need attention">
      {sources.length === 0 ? (
        <p className="quiet">None: every source is working.</p>
      ) : (
        <ul className="plain-list">
          {sources.map((source) => (
            <li key={source.source_id}>
              <A to={`/sources/${source.source_id}`}>
                <bdi>{source.name}</bdi>
              </A>{" "}
              <span className="quiet">{source.kind}</span>
              <p>
                <bdi>{source.sentence}</bdi>
              </p>
              {source.action ? <p className="quiet">{source.action}</p> : null}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Usage({ usage }: { usage: Overview["usage"] }) {
  const saved = usage.texts > 0 ? Math.round((100 * usage.reused) / usage.texts) : null;
  return (
    <Section title="Embedding cost" actions={<span className="quiet">{usage.month}</span>}>
      <dl className="facts">
        <div>
          <dt>Tokens</dt>
          <dd>{compact(usage.tokens)}</dd>
        </div>
        <div>
          <dt>Calls</dt>
          <dd>{count(usage.calls)}</dd>
        </div>
        <div>
          <dt>Saved</dt>
          <dd>
            {plural(usage.reused, "text")} reused{saved === null ? "" : `, ${saved} %`}
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{typeof usage.cost !== "number" ? <span className="quiet">no price set</span> : usage.cost.toFixed(2)}</dd>
        </div>
      </dl>
    </Section>
  );
}
