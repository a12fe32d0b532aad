/** The original beside its parsed text and its chunks: a PDF's page beside the chunk that came from it. */

import { useEffect, useRef } from "react";
import { withTenant, type Schemas } from "../../api/client";
import { useApi, useRows } from "../../api/queries";
import { usePageQuery } from "../../app/address";
import { count } from "../../lib/numbers";
import { cutter } from "../../lib/passage";
import { EmptyState, ErrorBox, Loading } from "../../ui/notices";
import { Section } from "../../ui/page";
import { pagesOf } from "./names";

type Document = Schemas["Document"];
type Chunk = Schemas["ChunkRow"];
interface PageSize {
  readonly page: number;
  readonly width: number;
  readonly height: number;
}

const VIEWS = ["chunks", "text"] as const;

export function Inspector({ document }: { document: Document }) {
  const [query, change] = usePageQuery();
  const view = query["view"] === "text" ? "text" : "chunks";
  const chunkAt = query["chunk"] === undefined ? null : Number(query["chunk"]);
  const id = document.document_id;
  const chunks = useRows<Chunk>(`/v1/documents/${id}/chunks`, (row) => row.chunk_id, {
    query: { limit: 200 },
    live: [`document:${id}`],
  });
  const chosen = chunks.rows.find((chunk) => chunk.ordinal === chunkAt) ?? null;
  const page = Number(query["page"] ?? chosen?.page_from ?? 1);
  const setPage = (next: number) => change({ page: String(next), chunk: undefined }, { replace: true });
  // A chunk named in the address may be beyond the first page of chunks.
  useEffect(() => {
    if (chunkAt !== null && !chosen && chunks.hasMore) chunks.loadMore();
  }, [chunkAt, chosen, chunks]);
  return (
    <Section
      title="Original and text"
      actions={
        <div className="tabs" role="tablist" aria-label="What is beside the original">
          {VIEWS.map((name) => (
            <button key={name} type="button" role="tab" aria-selected={view === name} onClick={() => change({ view: name === "chunks" ? undefined : name }, { replace: true })}>
              {name === "chunks" ? `Chunks ${count(document.chunk_count)}` : "Parsed text"}
            </button>
          ))}
        </div>
      }
    >
      <div className="inspector">
        <Original document={document} page={page} onPage={setPage} marked={chosen} />
        {view === "text" ? (
          <ParsedText documentId={id} />
        ) : (
          <Chunks
            list={chunks}
            isFailed={document.status === "failed"}
            chosen={chosen}
            page={document.page_count ? page : null}
            onChoose={(chunk) =>
              change({ chunk: String(chunk.ordinal), page: chunk.page_from === null || chunk.page_from === undefined ? undefined : String(chunk.page_from) }, { replace: true })
            }
          />
        )}
      </div>
    </Section>
  );
}

function Original({ document, page, onPage, marked }: { document: Document; page: number; onPage: (page: number) => void; marked: Chunk | null }) {
  const id = document.document_id;
  const isPaged = document.mime_type === "application/pdf";
  const pages = useApi<{ items: PageSize[] }>(`/v1/documents/${id}/pages`, { enabled: isPaged, live: [] });
  if (isPaged) {
    // Why a failed document cannot be read is said above, with the remedy.
    const isUnreadable = document.status === "failed" && pages.error?.status === 422;
    if (!pages.data && !isUnreadable)
      return <div className="original">{pages.error ? <ErrorBox error={pages.error} retry={() => void pages.refetch()} /> : <Loading what="Drawing the page" />}</div>;
    const all = pages.data?.items ?? [];
    const shown = all.find((each) => each.page === page) ?? all[0];
    if (!shown)
      return (
        <div className="original">
          <EmptyState title="No pages">
            <p>The file has no pages that can be drawn. Download it to look at it.</p>
          </EmptyState>
        </div>
      );
    return (
      <figure className="original">
        <figcaption className="pager">
          <button type="button" disabled={shown.page <= 1} onClick={() => onPage(shown.page - 1)}>
            Previous
          </button>
          <label>
            Page{" "}
            <input
              type="number"
              min={1}
              max={all.length}
              value={shown.page}
              onChange={(event) => onPage(Math.max(1, Math.min(all.length, Number(event.target.value) || 1)))}
            />{" "}
            of {count(all.length)}
          </label>
          <button type="button" disabled={shown.page >= all.length} onClick={() => onPage(shown.page + 1)}>
            Next
          </button>
        </figcaption>
        <img
          className="page-image"
          src={withTenant(`/v1/documents/${id}/pages/${shown.page}`)}
          width={shown.width}
          height={shown.height}
          alt={`Page ${shown.page}${marked && marked.page_from === shown.page ? `, where chunk ${marked.ordinal + 1} begins` : ""}`}
        />
      </figure>
    );
  }
  if (document.mime_type.startsWith("image/"))
    return (
      <figure className="original">
        <img className="page-image" src={withTenant(`/v1/documents/${id}/preview`)} alt="The original" />
      </figure>
    );
  return <TextPreview documentId={id} marked={marked} />;
}

interface Parsed {
  readonly text: string;
  readonly from?: number;
  readonly to?: number;
  readonly length?: number;
}
const WINDOW = 4000;

/** A document without pages: its text around the chosen chunk, which is marked. */
function TextPreview({ documentId, marked }: { documentId: string; marked: Chunk | null }) {
  const from = marked ? Math.max(0, marked.start - 600) : 0;
  const to = marked ? marked.end + 600 : WINDOW;
  const found = useApi<Parsed>(`/v1/documents/${documentId}/text`, { query: { from, to }, live: [`document:${documentId}`] });
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    // Newer browsers answer a promise, which is no clean-up.
    void mark.current?.scrollIntoView({ block: "nearest" });
  }, [found.data, marked]);
  if (!found.data) return <div className="original">{found.error ? <ErrorBox error={found.error} /> : <Loading />}</div>;
  const cut = cutter(found.data.text);
  const offset = found.data.from ?? from;
  const [begin, end] = marked ? [Math.max(0, marked.start - offset), Math.max(0, marked.end - offset)] : [0, 0];
  return (
    <div className="original">
      <pre className="parsed" dir="auto" tabIndex={0} aria-label="The text of the original">
        {offset > 0 ? "…" : ""}
        {marked ? (
          <>
            {cut(0, begin)}
            <mark ref={mark}>{cut(begin, end)}</mark>
            {cut(end)}
          </>
        ) : (
          found.data.text
        )}
        {(found.data.length ?? 0) > (found.data.to ?? to) ? "…" : ""}
      </pre>
    </div>
  );
}

function ParsedText({ documentId }: { documentId: string }) {
  const [query, change] = usePageQuery();
  const from = Math.max(0, Number(query["at"] ?? 0) || 0);
  const found = useApi<Parsed>(`/v1/documents/${documentId}/text`, { query: { from, to: from + 20_000 }, live: [`document:${documentId}`] });
  if (!found.data) return <div className="beside">{found.error ? <ErrorBox error={found.error} /> : <Loading />}</div>;
  const end = found.data.to ?? from + found.data.text.length;
  const total = found.data.length ?? end;
  return (
    <div className="beside">
      {total > 20_000 ? (
        <p className="pager">
          <button type="button" disabled={from === 0} onClick={() => change({ at: from > 20_000 ? String(from - 20_000) : undefined })}>
            Previous
          </button>
          <span>
            {count(from)} to {count(end)} of {count(total)} characters
          </span>
          <button type="button" disabled={end >= total} onClick={() => change({ at: String(end) })}>
            Next
          </button>
        </p>
      ) : null}
      {found.data.text === "" ? (
        <EmptyState title="No text">
          <p>The text is here once the document is indexed.</p>
        </EmptyState>
      ) : (
        <pre className="parsed" dir="auto" tabIndex={0} aria-label="Parsed text">
          {found.data.text}
        </pre>
      )}
    </div>
  );
}

function Chunks({
  list,
  isFailed,
  chosen,
  page,
  onChoose,
}: {
  list: ReturnType<typeof useRows<Chunk>>;
  isFailed: boolean;
  chosen: Chunk | null;
  page: number | null;
  onChoose: (chunk: Chunk) => void;
}) {
  const marked = useRef<HTMLLIElement>(null);
  useEffect(() => {
    void marked.current?.scrollIntoView({ block: "nearest" });
  }, [chosen?.chunk_id]);
  if (list.isPending) return <div className="beside">{list.error ? <ErrorBox error={list.error} retry={list.refetch} /> : <Loading />}</div>;
  if (list.rows.length === 0)
    return (
      <div className="beside">
        <EmptyState title={isFailed ? "No chunks" : "No chunks yet"}>
          <p>{isFailed ? "The document failed before it was divided into chunks." : "Chunks are here once the document is indexed."}</p>
        </EmptyState>
      </div>
    );
  return (
    <div className="beside">
      <ol className="chunks" aria-label="Chunks">
        {list.rows.map((chunk) => {
          const onPage = page !== null && chunk.page_from !== null && chunk.page_from !== undefined && chunk.page_from <= page && (chunk.page_to ?? chunk.page_from) >= page;
          const isChosen = chosen?.chunk_id === chunk.chunk_id;
          return (
            <li key={chunk.chunk_id} ref={isChosen ? marked : null} className={`chunk${isChosen ? " chosen" : ""}${onPage ? " on-page" : ""}`} id={`chunk-${chunk.ordinal}`}>
              <button type="button" className="chunk-head" aria-pressed={isChosen} onClick={() => onChoose(chunk)}>
                <strong>#{chunk.ordinal + 1}</strong>
                <span>{pagesOf(chunk.page_from, chunk.page_to)}</span>
                <bdi className="quiet heading-path" title={chunk.headings.map((heading) => heading.path.join(" › ")).join("\n")}>{chunk.heading_path.join(" › ")}</bdi>
                <span className="spacer" />
                <span className="quiet">{count(chunk.token_count)} tokens</span>
              </button>
              <p className="chunk-text" dir="auto">
                {chunk.text}
              </p>
              {isChosen ? (
                <p className="quiet small">
                  characters {count(chunk.start)} to {count(chunk.end)}
                  {chunk.embedding_model ? ` · embedded with ${chunk.embedding_model}` : " · not embedded"}
                </p>
              ) : null}
            </li>
          );
        })}
      </ol>
      {list.hasMore ? (
        <p className="more">
          <button type="button" disabled={list.isFetchingMore} onClick={list.loadMore}>
            {list.isFetchingMore ? "Loading …" : "More chunks"}
          </button>
        </p>
      ) : null}
    </div>
  );
}
