/** One source: how it is, what it read, what was skipped and why, and its rules. */

import { useState } from "react";
import { put, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { A, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { count } from "../../lib/numbers";
import { duration } from "../../lib/time";
import { Json } from "../../ui/json";
import { Answer, ErrorBox } from "../../ui/notices";
import { Facts, Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Id, Name, Time, useNow } from "../../ui/values";
import { Reason } from "../documents/reason";
import { SourceActions } from "./actions";
import { Rules } from "./rules";
import { sentence } from "./sentence";
import { Skipped } from "./skipped-list";
import { NextRun } from "./next-run";
import { healthState, kindName } from "./words";

type Details = Schemas["SourceDetails"];
const MAILBOXES = new Set(["gmail", "outlook", "imap"]);

export default function SourcePage() {
  const id = useParam("source");
  const found = useApi<Details>(`/v1/sources/${id}`, { live: ["sources", `source:${id}`] });
  if (!found.data)
    return (
      <Page title="Source" back={{ to: "/sources", text: "Sources" }}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  const source = found.data;
  return (
    <Page
      title={source.name}
      back={{ to: "/sources", text: "Sources" }}
      lead={
        <span className="lead-line">
          <StateBadge {...healthState(source.health.state)} /> {kindName(source.kind)}
        </span>
      }
      actions={<SourceActions source={source} documents={source.documents} full />}
    >
      <ErrorBox error={found.error} />
      <Sentence source={source} />
      <Section title="Facts">
        <Facts
          facts={[
            ["Documents", <A to={`/documents?source_id=${source.source_id}`}>{count(source.documents)}</A>],
            ["Not indexed", <A to={`/documents?source_id=${source.source_id}&status=skipped,failed`}>what was skipped or failed, and why</A>],
            ["Project", <A to={`/documents?project=${encodeURIComponent(source.project)}`}>{source.project}</A>],
            source.account ? ["Account", <Name>{source.account}</Name>] : null,
            ["Last success", <Time at={source.synced_at} />],
            ["Next run", <NextRun source={source} />],
            source.kind === "webhook" ? null : ["Synced", <Schedule source={source} />],
            source.health.connection ? ["Connection", source.health.connection.replaceAll("_", " ")] : null,
            source.health.push ? ["Push", <PushText push={source.health.push} />] : null,
            ["Connected", <Time at={source.created_at} />],
            ["Id", <Id value={source.source_id} />],
          ]}
        />
      </Section>
      {source.streams.length ? <Streams streams={source.streams} /> : null}
      {source.kind === "webhook" ? null : <Syncs jobs={source.jobs} />}
      {MAILBOXES.has(source.kind) ? (
        <>
          <Section title="What was skipped, and why">
            <Skipped sourceId={source.source_id} />
          </Section>
          <Rules sourceId={source.source_id} config={source.config} />
        </>
      ) : null}
      {Object.keys(source.config).length ? (
        <Section title="Settings">
          <Json value={source.config} label="Settings" />
        </Section>
      ) : null}
    </Page>
  );
}

function Sentence({ source }: { source: Details }) {
  const now = useNow();
  const state = source.health.state;
  return (
    <p className={`health-line ${state === "needs_you" ? "bad" : state === "retrying" || state === "degraded" ? "warn" : ""}`} role="status">
      <bdi>{sentence(source, now)}</bdi>
    </p>
  );
}

function PushText({ push }: { push: Schemas["Push"] }) {
  return (
    <span>
      {push.state}
      {push.reason ? `: ${push.reason}` : ""}
      {push.last_notified_at ? (
        <>
          , last notified <Time at={push.last_notified_at} />
        </>
      ) : null}
      {push.expires_at ? (
        <>
          , until <Time at={push.expires_at} />
        </>
      ) : null}
    </span>
  );
}

const RHYTHMS = [
  [null, "only when asked"],
  [300, "every 5 minutes"],
  [3600, "every hour"],
  [21_600, "every 6 hours"],
  [86_400, "every night"],
] as const;

function Schedule({ source }: { source: Details }) {
  const may = useMay("admin");
  const change = useAction((every: number | null) => put(`/v1/sources/${source.source_id}/schedule`, { sync_every_seconds: every }), [
    "sources",
    `source:${source.source_id}`,
  ]);
  const every = source.sync_every_seconds ?? null;
  const known = RHYTHMS.find(([seconds]) => seconds === every);
  const said = known?.[1] ?? `every ${duration(every ?? 0)}`;
  if (!may) return <>{said}</>;
  return (
    <>
      <select aria-label="How often it is synced" value={every ?? ""} disabled={change.isPending} onChange={(event) => change.mutate(event.target.value === "" ? null : Number(event.target.value))}>
        {known ? null : <option value={every ?? ""}>{said}</option>}
        {RHYTHMS.map(([seconds, text]) => (
          <option key={text} value={seconds ?? ""}>
            {text}
          </option>
        ))}
      </select>
      <ErrorBox error={change.error} />
    </>
  );
}

function Streams({ streams }: { streams: readonly Schemas["StreamState"][] }) {
  return (
    <Section title="What is read">
      <Table label="What is read" head={["Kind of record", { text: "Items", right: true }, { text: "Left out by the cap", right: true }, { text: "Read completely", right: true }]}>
        {streams.map((stream) => (
          <tr key={stream.stream}>
            <td>
              <Name>{stream.stream}</Name>
            </td>
            <td className="right">
              {count(stream.items)}
              {stream.expected ? <span className="quiet"> of about {count(stream.expected)}</span> : null}
            </td>
            <td className="right">{stream.left_out ? count(stream.left_out) : <span className="zero">–</span>}</td>
            <td className="right">
              <Time at={stream.completed_at} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function Syncs({ jobs }: { jobs: readonly Schemas["IngestionJob"][] }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Section title="Last syncs">
      {jobs.length === 0 ? (
        <p className="quiet">None yet.</p>
      ) : (
        <Table
          label="Last syncs"
          head={["Status", "Why", { text: "Written", right: true }, { text: "Unchanged", right: true }, { text: "Removed", right: true }, { text: "Failed", right: true }, "Error", { text: "Started", right: true }]}
        >
          {jobs.map((job) => (
            <tr key={job.job_id}>
              <td>
                <StateBadge state={job.status} />
              </td>
              <td>
                {job.kind === "full_sync" || job.kind === "full" ? "everything" : "changes"}, {job.reason.replaceAll("_", " ")}
              </td>
              <td className="right">{count(job.items_written)}</td>
              <td className="right">{count(job.items_unchanged)}</td>
              <td className="right">{count(job.items_removed)}</td>
              <td className="right">
                {job.items_failed ? (
                  <button type="button" className="link" aria-expanded={open === job.job_id} onClick={() => setOpen(open === job.job_id ? null : job.job_id)}>
                    {count(job.items_failed)}
                  </button>
                ) : (
                  0
                )}
              </td>
              <td>
                {job.error_code ? (
                  <>
                    <Reason code={job.error_code} message={job.error_message} />
                  </>
                ) : (
                  <span className="zero">–</span>
                )}
                {open === job.job_id ? <Json value={job.error_details} label="What failed" /> : null}
              </td>
              <td className="right">
                <Time at={job.started_at} />
                <div className="quiet small">{job.finished_at ? `took ${duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000)}` : "not finished"}</div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
