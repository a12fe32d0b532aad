/** One cause of failures: what it says, whom it hit, and replay, whole or a part first. */

import { useState } from "react";
import { useApi, useRows } from "../../api/queries";
import type { FailureDetail, FailureMember } from "../../api/operate";
import { usePageQuery, useParam } from "../../app/address";
import { useMay, useSession, useTenant } from "../../app/session";
import { count, plural } from "../../lib/numbers";
import { BulkDialog, type BulkAction } from "../../ui/bulk-bar";
import { Sparkline } from "../../ui/chart";
import { Answer, EmptyState } from "../../ui/notices";
import { OperationCard } from "../../ui/operation";
import { Facts, Page, Section } from "../../ui/page";
import { Name, Time } from "../../ui/values";
import { PURGE, REPLAY, RETRY } from "./actions";
import { says, withoutCode } from "../documents/reason";
import { VirtualTable, type Column } from "../../ui/virtual-table";

export default function FailurePage() {
  const id = useParam("group");
  const path = `/v1/failures/${encodeURIComponent(id)}`;
  const [query, change] = usePageQuery();
  const found = useApi<FailureDetail>(path, { query: { limit: 1 }, live: ["dead", "documents", "operations"] });
  const may = useMay("operate");
  const session = useSession();
  const [tenant] = useTenant();
  const ofAll = Boolean(session?.is_installation) && tenant === null;
  const [asked, setAsked] = useState<{ action: BulkAction; canary: number } | null>(null);
  const started = query["operation"];
  const group = found.data;
  const replay = group?.kind === "task" ? REPLAY : RETRY;
  const gone = found.error?.status === 404;
  return (
    <Page
      title={group?.title ?? "Failure"}
      back={{ to: "/failures", text: "Failures" }}
      actions={
        group?.kind === "document" && may && ofAll ? (
          <span className="quiet">Choose a tenant at the top to retry its documents.</span>
        ) : group && may && !gone ? (
          <>
            {group.kind === "task" ? (
              <button type="button" className="danger" onClick={() => setAsked({ action: PURGE, canary: 0 })}>
                Purge {count(group.count, group.approximate)} …
              </button>
            ) : null}
            {group.count > 1 ? (
              <button type="button" onClick={() => setAsked({ action: replay, canary: group.count >= 200 ? 1 : 10 })}>
                Try a few first …
              </button>
            ) : null}
            <button type="button" className="primary" onClick={() => setAsked({ action: replay, canary: 0 })}>
              {replay.verb} {count(group.count, group.approximate)} …
            </button>
          </>
        ) : null
      }
    >
      {started ? <OperationCard id={started} onDismiss={() => change({ operation: undefined }, { replace: true })} /> : null}
      {gone ? (
        <EmptyState title="No failure with this cause is left">They were replayed, retried or purged.</EmptyState>
      ) : (
        <Answer of={found}>
          {(shown) => (
            <>
              <Section title="Cause">
                <pre className="cause">
                  <bdi>{withoutCode(shown.error_code, shown.example_message)}</bdi>
                </pre>
                {shown.remedy && !says(shown.example_message, shown.remedy) ? <p><bdi>{shown.remedy}</bdi></p> : null}
                <Facts
                  facts={[
                    ["Failed", plural(shown.count, shown.kind === "task" ? "dead letter" : "document")],
                    ["Code", <code>{shown.error_code}</code>],
                    shown.task_type ? ["Task type", <Name>{shown.task_type}</Name>] : null,
                    ["First", <Time at={shown.first_at} />],
                    ["Last", <Time at={shown.last_at} />],
                    ["Last 24 hours", <Sparkline values={shown.history} tone="bad" label="Failures per hour within 24 hours" />],
                  ]}
                />
              </Section>
              <Members path={path} kind={shown.kind} />
            </>
          )}
        </Answer>
      )}
      {asked && group ? (
        <BulkDialog
          action={asked.action}
          filter={group.kind === "task" ? { fingerprint: group.fingerprint } : { fingerprint: group.fingerprint, status: "failed" }}
          changes={["dead", "documents"]}
          {...(asked.canary ? { canaryPercent: asked.canary } : {})}
          onClose={() => setAsked(null)}
          onStarted={(operation) => {
            setAsked(null);
            change({ operation: operation.operation_id }, { replace: true });
          }}
        />
      ) : null}
    </Page>
  );
}

const COLUMNS: readonly Column<FailureMember>[] = [
  { key: "name", label: "Name", width: "minmax(12rem, 1fr)", render: (member) => <Name>{member.name}</Name> },
  { key: "message", label: "Message", width: "minmax(14rem, 2fr)", render: (member) => <Name>{member.message}</Name> },
  { key: "at", label: "Failed", width: "7rem", right: true, render: (member) => <Time at={member.at} /> },
];

function Members({ path, kind }: { path: string; kind: "task" | "document" }) {
  const key = (member: FailureMember) => String(member.task_id ?? member.document_id);
  const list = useRows<FailureMember>(path, key, { rowsIn: "members", query: { limit: 100 }, live: ["dead", "documents"] });
  return (
    <section aria-label="Members" className="stack">
      <VirtualTable
        label={kind === "task" ? "Dead letters of this cause" : "Documents of this cause"}
        list={list}
        columns={COLUMNS}
        rowKey={key}
        rowHref={(member) => (member.task_id === null ? `/documents/${member.document_id}` : `/tasks/${member.task_id}`)}
        empty={<EmptyState title="None is left" />}
      />
    </section>
  );
}

