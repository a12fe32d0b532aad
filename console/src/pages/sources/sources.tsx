/** Sources: one honest sentence each, last success, next run, counts; connect another one. */

import { type Reply, type Schemas } from "../../api/client";
import { useApi } from "../../api/queries";
import { A } from "../../app/address";
import { useMay } from "../../app/session";
import { compact, count, plural } from "../../lib/numbers";
import { Answer, EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time, useNow } from "../../ui/values";
import { SourceActions } from "./actions";
import { needsReconnect, sentence } from "./sentence";
import { healthState, kindName } from "./words";

type Source = Schemas["Source"];

export default function Sources() {
  const found = useApi<Reply<"/v1/sources">>("/v1/sources", { live: ["sources"], everySeconds: 30 });
  const may = useMay("admin");
  return (
    <Page
      title="Sources"
      lead="Where documents come from, and how each source is."
      actions={
        <>
          <A to="/sources/skipped" className="button">
            What was skipped
          </A>
          {may ? (
            <A to="/sources/connect" className="button primary">
              Connect a source
            </A>
          ) : null}
        </>
      }
    >
      <Answer of={found}>
        {(answer) =>
          answer.items.length === 0 ? (
            <EmptyState title="No source is connected" command="penstock source connect hubspot">
              <p>Connect a mailbox, a drive or a CRM, and its documents come by themselves. To try it without an account, run the simulated providers.</p>
              {may ? (
                <p>
                  <A to="/sources/connect" className="button primary">
                    Connect a source
                  </A>
                </p>
              ) : null}
            </EmptyState>
          ) : (
            <ul className="cards">
              {[...answer.items].sort(byNeed).map((source) => (
                <SourceCard key={source.source_id} source={source} />
              ))}
            </ul>
          )
        }
      </Answer>
    </Page>
  );
}

const URGENCY = ["needs_you", "retrying", "degraded", "syncing", "never_synced", "healthy", "receiving", "paused"];

function byNeed(one: Source, other: Source): number {
  return URGENCY.indexOf(one.health.state) - URGENCY.indexOf(other.health.state) || one.name.localeCompare(other.name);
}

function SourceCard({ source }: { source: Source }) {
  const now = useNow();
  const details = useApi<Schemas["SourceDetails"]>(`/v1/sources/${source.source_id}`, { live: ["sources", `source:${source.source_id}`] }).data;
  const job = details?.jobs[0];
  return (
    <li className={`card${needsReconnect(source) ? " bad" : ""}`}>
      <header>
        <div>
          <h2>
            <A to={`/sources/${source.source_id}`}>
              <Name>{source.name}</Name>
            </A>
          </h2>
          <p className="quiet small">
            {kindName(source.kind)} · to project <bdi>{source.project}</bdi>
          </p>
        </div>
        <StateBadge {...healthState(source.health.state)} />
      </header>
      <p className="health-sentence">
        <bdi>{sentence(source, now)}</bdi>
      </p>
      <dl className="card-facts">
        <div>
          <dt>Documents</dt>
          <dd>
            {details ? (
              <A to={`/documents?source_id=${source.source_id}`} title={count(details.documents)}>
                {compact(details.documents)}
              </A>
            ) : (
              "…"
            )}
          </dd>
        </div>
        <div>
          <dt>Last success</dt>
          <dd>
            <Time at={source.synced_at} />
          </dd>
        </div>
        <div>
          <dt>Next run</dt>
          <dd>
            <Time at={source.health.next_try_at ?? source.next_sync_at} />
          </dd>
        </div>
        <div>
          <dt>Last sync</dt>
          <dd>{job ? `${plural(job.items_written, "item")} written${job.items_failed ? `, ${count(job.items_failed)} failed` : ""}` : "–"}</dd>
        </div>
      </dl>
      <SourceActions source={source} documents={details?.documents ?? null} />
    </li>
  );
}
