/** One document: what happened to it, the original beside its text and chunks, and what can be done. */

import { useState } from "react";
import { post, remove, withTenant, type Reply, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { A, useGo, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { bytes, count, plural } from "../../lib/numbers";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { Json } from "../../ui/json";
import { Answer, ErrorBox } from "../../ui/notices";
import { Facts, Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Id, Name, Time } from "../../ui/values";
import { typeName } from "./fields";
import { Inspector } from "./inspector";
import { nameOf } from "./names";
import { Reason } from "./reason";
import { Timeline } from "./timeline-view";
import { Stages } from "./uploads";

type Document = Schemas["Document"];

export default function DocumentPage() {
  const id = useParam("document");
  const found = useApi<Document>(`/v1/documents/${id}`, { live: [`document:${id}`, "documents"] });
  if (!found.data)
    return (
      <Page title="Document" back={{ to: "/documents", text: "Documents" }}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  return <Shown document={found.data} error={found.error} />;
}

function Shown({ document, error }: { document: Document; error: unknown }) {
  const id = document.document_id;
  return (
    <Page
      title={nameOf(document)}
      back={{ to: "/documents", text: "Documents" }}
      lead={
        <span className="lead-line">
          <StateBadge state={document.status} /> <Stages status={document.status} reason={document.reason_code} />
          {document.searchable && document.status !== "indexed" ? <span className="quiet">searches still find the previous version</span> : null}
        </span>
      }
      actions={<Actions document={document} />}
    >
      <ErrorBox error={error} />
      <Trouble document={document} />
      <div className="document-grid">
        <Section title="Facts">
          <DocumentFacts document={document} />
        </Section>
        <Timeline documentId={id} />
      </div>
      <Inspector document={document} />
      <Ingestions documentId={id} />
      {Object.keys(document.metadata).length ? (
        <Section title="Metadata">
          <Json value={document.metadata} label="Metadata" />
        </Section>
      ) : null}
    </Page>
  );
}

function Trouble({ document }: { document: Document }) {
  const wanted = document.status !== "indexed";
  const found = useApi<Schemas["Explanation"]>(`/v1/documents/${document.document_id}/explain`, {
    live: [`document:${document.document_id}`, "documents"],
    enabled: wanted,
  });
  if (!wanted) return null;
  const isBad = document.status === "failed";
  // Of a failed document the explanation repeats the error, which has the remedy in it.
  const reasons = isBad ? [] : (found.data?.waits_for ?? []);
  if (!reasons.length && !document.error_message) return null;
  return (
    <div className={isBad ? "trouble bad" : "trouble"} role="status">
      <Icon name={isBad ? "failed" : "waiting"} />
      <div>
        {document.error_message ? (
          <p>
            <strong>
              <Reason code={document.reason_code} message={document.error_message} />
            </strong>
          </p>
        ) : null}
        {reasons.map((reason) => (
          <p key={reason.reason + reason.explanation}>
            <bdi>{reason.explanation}</bdi> {reason.remedy ? <span className="remedy">{reason.remedy}</span> : null}
          </p>
        ))}
      </div>
    </div>
  );
}

function DocumentFacts({ document }: { document: Document }) {
  const source = useApi<Reply<"/v1/sources">>("/v1/sources", { live: ["sources"], enabled: document.source_id !== null }).data?.items.find(
    (each) => each.source_id === document.source_id,
  );
  return (
    <Facts
      facts={[
        ["Project", <A to={`/documents?project=${encodeURIComponent(document.project)}`}>{document.project}</A>],
        [
          "From",
          document.source_id ? (
            source ? <A to={`/sources/${source.source_id}`}><Name>{source.name}</Name></A> : "a removed source"
          ) : (
            "an upload"
          ),
        ],
        document.parent_document_id ? ["Part of", <A to={`/documents/${document.parent_document_id}`}>another document</A>] : null,
        ["Type", <span title={document.mime_type}>{typeName(document.mime_type)}</span>],
        ["Size", `${bytes(document.size_bytes)}${document.page_count ? `, ${plural(document.page_count, "page")}` : ""}`],
        document.title ? ["Title", <bdi>{document.title}</bdi>] : null,
        document.author ? ["Author", <bdi>{document.author}</bdi>] : null,
        document.language ? ["Language", document.language] : null,
        document.document_created_at ? ["Written", <Time at={document.document_created_at} exact />] : null,
        ["Received", <Time at={document.created_at} />],
        document.indexed_at ? ["Indexed", <Time at={document.indexed_at} />] : null,
        ["Chunks", `${count(document.chunk_count)}, ${count(document.token_count)} tokens`],
        document.parser ? ["Parser", document.parser] : null,
        document.fallback_embedder ? ["Fallback model", document.fallback_embedder] : null,
        document.external_id ? ["External id", <Name mono>{document.external_id}</Name>] : null,
        ["Id", <Id value={document.document_id} />],
        ["SHA-256", <Id value={document.content_sha256} />],
        ...document.warnings.slice(0, 5).map((warning, index) => [`Warning ${index + 1}`, <bdi className="tone-text-warn">{warning}</bdi>] as const),
      ]}
    />
  );
}

function Actions({ document }: { document: Document }) {
  const may = useMay("documents:write");
  const go = useGo();
  const id = document.document_id;
  const at = `/v1/documents/${id}`;
  const changes = ["documents", `document:${id}`];
  const [asking, setAsking] = useState(false);
  const retry = useAction((_: null) => post(`${at}/retry`), changes, () => toast("Processing it again."));
  const reindex = useAction((_: null) => post(`${at}/reindex`), changes, () =>
    toast("Re-indexing it. Searches find the old version until it is done."),
  );
  const drop = useAction(
    (_: null) => remove(at),
    changes,
    () => {
      toast("The document was deleted.");
      go("/documents", { replace: true });
    },
    at,
  );
  return (
    <>
      <a className="button" href={withTenant(`/v1/documents/${id}/content`)} download>
        Download
      </a>
      {may ? (
        <>
          {document.status === "failed" || document.status === "skipped" ? (
            <button type="button" className="primary" disabled={retry.isPending} onClick={() => retry.mutate(null)}>
              <Icon name="refresh" /> Retry
            </button>
          ) : null}
          {document.status === "indexed" ? (
            <button type="button" disabled={reindex.isPending} onClick={() => reindex.mutate(null)}>
              Re-index
            </button>
          ) : null}
          <button type="button" className="danger" onClick={() => setAsking(true)}>
            Delete …
          </button>
        </>
      ) : null}
      <ErrorBox error={retry.error ?? reindex.error} />
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Delete 1 document?"
        verb="Delete 1 document"
        danger
        busy={drop.isPending}
        error={drop.error}
        onConfirm={() => drop.mutate(null)}
      >
        <p>
          <bdi>{nameOf(document)}</bdi> disappears from search, and its original is deleted. This cannot be undone.
        </p>
      </Confirm>
    </>
  );
}

/** Who sent it: "session:Anna", "key:<id>", "document:<id>" of the archive it was in, or a name. */
function Sender({ by }: { by: string }) {
  const [kind, id] = by.split(/:(.*)/s);
  if (kind === "key" && id)
    return (
      <>
        API key <Id value={id} />
      </>
    );
  if (kind === "document" && id) return <A to={`/documents/${id}`}>another document</A>;
  return <Name>{kind === "session" && id ? id : by}</Name>;
}

function Ingestions({ documentId }: { documentId: string }) {
  const found = useApi<Schemas["Ingestions"]>(`/v1/documents/${documentId}/ingestions`, { live: [`document:${documentId}`, "documents"] });
  return (
    <Section title="Requests to process it">
      <Answer of={found}>
        {(answer) => (
          <Table label="Requests to process it" head={["Status", "By", "Reason", "Metadata", { text: "Received", right: true }]}>
            {answer.items.map((each) => (
              <tr key={each.ingestion_id}>
                <td>
                  <StateBadge state={each.status} />
                </td>
                <td>{each.uploaded_by ? <Sender by={each.uploaded_by} /> : each.source_id ? <A to={`/sources/${each.source_id}`}>a source</A> : "–"}</td>
                <td>
                  <bdi>{each.skip_reason ?? each.error_message ?? each.error_code ?? "–"}</bdi>
                </td>
                <td>
                  <Name>{Object.entries(each.source_metadata).map(([name, value]) => `${name}: ${String(value)}`).join(", ") || "–"}</Name>
                </td>
                <td className="right">
                  <Time at={each.created_at} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Answer>
    </Section>
  );
}
