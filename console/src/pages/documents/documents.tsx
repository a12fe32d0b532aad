/** Documents: the list with its filter in the URL, counts that are filters, upload by drag and drop. */

import { useMemo } from "react";
import { useApi, useRows, type Rows } from "../../api/queries";
import type { Reply, Schemas } from "../../api/client";
import { usePageQuery } from "../../app/address";
import { useMay } from "../../app/session";
import { bytes } from "../../lib/numbers";
import { BulkBar, type BulkAction } from "../../ui/bulk-bar";
import { FilterBar, useFilter } from "../../ui/filter-bar";
import { EmptyState } from "../../ui/notices";
import { Page } from "../../ui/page";
import { SortSelect, useOrder } from "../../ui/sort-select";
import { StateBadge } from "../../ui/state";
import { useSelection } from "../../ui/use-selection";
import { Count, Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { CountsRail } from "./counts";
import { documentFields, typeName } from "./fields";
import { DocumentName } from "./document-name";
import { withoutCode } from "./reason";
import { DropArea, UploadButton, UploadPanel } from "./uploads";

type Document = Schemas["Document"];

const ACTIONS: readonly BulkAction[] = [
  { action: "documents.retry", verb: "Retry", noun: "document", canary: true, about: "Failed and skipped documents are processed again." },
  { action: "documents.reindex", verb: "Re-index", noun: "document", canary: true, about: "Searches find the old version until the new one is ready." },
  { action: "documents.delete", verb: "Delete", noun: "document", danger: true, about: "Searches no longer find them, and their originals are deleted. This cannot be undone." },
];

const SORTS = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["updated", "Recently changed first"],
] as const;

export default function Documents() {
  const projects = useApi<Reply<"/v1/projects">>("/v1/projects", { live: ["projects"] }).data?.items ?? [];
  const sources = useApi<Reply<"/v1/sources">>("/v1/sources", { live: ["sources"] }).data?.items ?? [];
  const fields = useMemo(() => documentFields(projects, sources), [projects, sources]);
  const [query, change] = usePageQuery();
  const filter = useFilter(fields);
  const sort = useOrder(SORTS);
  const list: Rows<Document> = useRows<Document>("/v1/documents", (row) => row.document_id, {
    query: { ...filter, sort, count: 1, limit: 100 },
    live: ["documents"],
  });
  const [selection, select] = useSelection();
  const mayWrite = useMay("documents:write");
  const sourceNames = useMemo(() => new Map(sources.map((each) => [each.source_id, each.name])), [sources]);
  const isFiltered = Object.keys(filter).length > 0;

  const columns: Column<Document>[] = [
    { key: "name", label: "Document", width: "minmax(14rem, 3fr)", render: (row) => <DocumentName of={row} /> },
    {
      key: "status",
      label: "Status",
      width: "8.5rem",
      render: (row) => <StateBadge state={row.status} title={row.error_message ?? undefined} />,
    },
    {
      key: "reason",
      label: "Reason",
      width: "minmax(10rem, 2.4fr)",
      render: (row) =>
        row.error_message || row.reason_code ? (
          <Name>{row.error_message ? withoutCode(row.reason_code, row.error_message) : (row.reason_code ?? "").replaceAll("_", " ")}</Name>
        ) : (
          <span className="zero none">–</span>
        ),
    },
    { key: "type", label: "Type", width: "6rem", wideOnly: true, render: (row) => typeName(row.mime_type) },
    {
      key: "from",
      label: "From",
      width: "minmax(6rem, 1fr)",
      wideOnly: true,
      render: (row) => (row.source_id ? <Name>{sourceNames.get(row.source_id) ?? "a removed source"}</Name> : <span className="quiet">upload</span>),
    },
    ...(projects.length > 1
      ? [{ key: "project", label: "Project", width: "minmax(5rem, 1fr)", wideOnly: true, render: (row: Document) => <Name>{row.project}</Name> }]
      : []),
    { key: "size", label: "Size", width: "5rem", right: true, wideOnly: true, render: (row) => bytes(row.size_bytes) },
    { key: "chunks", label: "Chunks", width: "5rem", right: true, wideOnly: true, render: (row) => <Count n={row.chunk_count} /> },
    {
      key: "at",
      label: sort === "updated" ? "Changed" : "Received",
      width: "6.5rem",
      right: true,
      render: (row) => <Time at={sort === "updated" ? row.updated_at : row.created_at} />,
    },
  ];

  return (
    <DropArea enabled={mayWrite} project={query["project"] ?? "default"}>
      <Page
        title="Documents"
        lead="Every document received, its stage, and the reason if it stopped."
        actions={mayWrite ? <UploadButton project={query["project"] ?? "default"} /> : null}
      >
        <UploadPanel />
        <CountsRail fields={fields} />
        <div className="list-bar">
          <FilterBar fields={fields} page="documents" placeholder="Filter by name, status:, project:, source:, type: or reason:" />
          <SortSelect orders={SORTS} />
        </div>
        {mayWrite ? (
          <BulkBar
            actions={ACTIONS}
            filter={filter}
            selection={selection}
            onSelect={select}
            total={list.total}
            approximate={list.approximate}
            loaded={list.rows.length}
            changes={["documents"]}
          />
        ) : null}
        <VirtualTable
          label="Documents"
          list={list}
          columns={columns}
          rowKey={(row) => row.document_id}
          rowHref={(row) => `/documents/${row.document_id}`}
          {...(mayWrite ? { selection, onSelect: select } : {})}
          empty={
            isFiltered ? (
              <EmptyState title="No document matches">
                <p>
                  <button type="button" className="link" onClick={() => change(Object.fromEntries(fields.map((field) => [field.name, undefined])))}>
                    Remove the filter
                  </button>{" "}
                  to see all documents.
                </p>
              </EmptyState>
            ) : (
              <EmptyState title="No documents yet" command="penstock ingest ./my-documents">
                <p>Drop files here, connect a source, or add a folder from the command line:</p>
              </EmptyState>
            )
          }
        />
      </Page>
    </DropArea>
  );
}
