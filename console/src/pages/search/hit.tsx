/** One hit: the passage with its words marked, the parts of its score, and the passage in its context. */

import { useState, type ReactNode } from "react";
import { useApi } from "../../api/queries";
import type { Schemas } from "../../api/client";
import { A } from "../../app/address";
import { cutter } from "../../lib/passage";
import { ErrorBox, Loading } from "../../ui/notices";
import { Icon } from "../../ui/icons";
import { DocumentName } from "../documents/document-name";
import { pagesOf } from "../documents/names";
import type { Mode } from "./setting";

type FoundHit = Schemas["FoundHit"];

const MOST_HEADINGS = 3;

export function Hit({ hit, place, best, move, mode }: { hit: FoundHit; place: number; best: number; move: number | "new" | null; mode: Mode }) {
  const [open, setOpen] = useState(false);
  const to =
    hit.kind === "client"
      ? `/clients/${hit.client_id}`
      : `/documents/${hit.document_id}?chunk=${hit.ordinal}${hit.page_from ? `&page=${hit.page_from}` : ""}`;
  return (
    <li className="hit">
      <div className="hit-head">
        <span className="hit-place">{place + 1}</span>
        <A to={to}>
          <DocumentName of={{ path: hit.path, filename: hit.filename, title: hit.title }} />
        </A>
        <span className="quiet">{hit.kind === "client" ? "client" : pagesOf(hit.page_from, hit.page_to)}</span>
        <Moved move={move} />
        <span className="spacer" />
        <Relevance value={hit.relevance} />
      </div>
      {hit.heading_path.length ? <bdi className="quiet small heading-path">{hit.heading_path.join(" › ")}</bdi> : null}
      <FurtherHeadings hit={hit} />
      <p className="snippet" dir="auto">
        {marked(hit.snippet)}
      </p>
      <Parts hit={hit} best={best} mode={mode} />
      {hit.kind === "chunk" && hit.document_id ? (
        <>
          <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide the context" : "Show in context"}
          </button>
          {open ? <Context documentId={hit.document_id} ordinal={hit.ordinal ?? 0} /> : null}
        </>
      ) : null}
    </li>
  );
}

/** The headings that begin inside the passage; the line above has the ones it begins under. */
function FurtherHeadings({ hit }: { hit: FoundHit }) {
  const further = hit.headings.map((heading) => heading.path).filter((path) => path.some((name, at) => name !== hit.heading_path[at]));
  if (!further.length) return null;
  const more = further.length - MOST_HEADINGS;
  return (
    <bdi className="quiet small heading-path" title={further.map((path) => path.join(" › ")).join("\n")}>
      also: {further.slice(0, MOST_HEADINGS).map((path) => path[path.length - 1]).join(" · ")}
      {more > 0 ? ` and ${more} more` : ""}
    </bdi>
  );
}

function Moved({ move }: { move: number | "new" | null }) {
  if (move === null || move === 0) return null;
  if (move === "new") return <span className="badge tone-hold">only here</span>;
  return (
    <span className={`badge ${move > 0 ? "tone-good" : "tone-warn"}`}>
      {move > 0 ? "▲" : "▼"} {Math.abs(move)}
      <span className="visually-hidden">{move > 0 ? " places higher here" : " places lower here"}</span>
    </span>
  );
}

function Relevance({ value }: { value: number }) {
  const percent = Math.round(value * 100);
  return (
    <span className={`relevance ${value >= 0.5 ? "tone-text-good" : "quiet"}`} title="The calibrated probability that this passage answers the question">
      {percent} % relevant
    </span>
  );
}

/** How the score came about: by meaning, by words, and both together. */
function Parts({ hit, best, mode }: { hit: FoundHit; best: number; mode: Mode }) {
  return (
    <dl className="parts">
      <Part name="meaning" none={mode === "text" ? "not searched" : "no match"} rank={hit.vector_rank} score={hit.vector_score} share={hit.vector_score ?? 0} about="Similarity of the embeddings, and the rank by it" />
      <Part
        name="words"
        none={mode === "vector" ? "not searched" : "no match"}
        rank={hit.text_rank}
        score={hit.text_score}
        share={hit.coverage ?? 0}
        about={`BM25, and the rank by it${hit.coverage === null || hit.coverage === undefined ? "" : `; it contains ${Math.round(hit.coverage * 100)} % of the question's words, rare ones counting more`}`}
      />
      <Part name="together" none="–" rank={null} score={hit.score} share={best > 0 ? hit.score / best : 0} about="Both scores combined" />
    </dl>
  );
}

function Part({ name, none, rank, score, share, about }: { name: string; none: string; rank: number | null; score: number | null; share: number; about: string }) {
  return (
    <div title={about}>
      <dt>{name}</dt>
      <dd>
        {score === null ? (
          <span className="zero">{none}</span>
        ) : (
          <>
            <span className="part-bar" aria-hidden="true">
              <span style={{ width: `${Math.max(2, Math.min(100, share * 100))}%` }} />
            </span>
            <span>{score.toFixed(score < 0.1 ? 4 : 2)}</span>
            {rank === null ? null : <span className="quiet">#{rank}</span>}
          </>
        )}
      </dd>
    </div>
  );
}

function marked(snippet: Schemas["Snippet"]): ReactNode[] {
  const parts: ReactNode[] = [];
  let done = 0;
  const cut = cutter(snippet.text);
  for (const [from, to] of (snippet.marks ?? []) as [number, number][]) {
    parts.push(cut(done, from), <mark key={from}>{cut(from, to)}</mark>);
    done = to;
  }
  parts.push(cut(done));
  return parts;
}

/** The chunk between its neighbours. */
function Context({ documentId, ordinal }: { documentId: string; ordinal: number }) {
  const before = Math.max(0, ordinal - 1);
  const found = useApi<Schemas["Page_ChunkRow_"]>(`/v1/documents/${documentId}/chunks`, {
    query: { limit: 3, ...(before > 0 ? { cursor: String(before - 1) } : {}) },
  });
  if (!found.data) return found.error ? <ErrorBox error={found.error} /> : <Loading />;
  return (
    <div className="context">
      {found.data.items.map((chunk) => (
        <p key={chunk.chunk_id} dir="auto" className={chunk.ordinal === ordinal ? "context-here" : "quiet"}>
          {chunk.ordinal === ordinal ? <Icon name="chevron" /> : null}
          {chunk.text}
        </p>
      ))}
      <A to={`/documents/${documentId}?chunk=${ordinal}`}>Open beside the original</A>
    </div>
  );
}
