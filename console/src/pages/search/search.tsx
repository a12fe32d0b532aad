/** The search playground: score parts, the passage in its context, latency, two settings side by side. */

import { useEffect, useRef, useState, type FormEvent } from "react";
import { useQuery } from "@tanstack/react-query";
import { chosenTenant, post, type ApiError, type Reply, type Schemas } from "../../api/client";
import { useApi } from "../../api/queries";
import { usePageQuery } from "../../app/address";
import { useShortcuts } from "../../app/shortcuts";
import { plural } from "../../lib/numbers";
import { EmptyState, ErrorBox, Loading } from "../../ui/notices";
import { Icon } from "../../ui/icons";
import { Page } from "../../ui/page";
import { Hit } from "./hit";
import { bodyOf, keyOf, moved, settingOf, written, type Mode, type Setting, type Side } from "./setting";
import { TYPES } from "../documents/fields";

type Found = Schemas["SearchResponse"];

/** Where the time went. */
function stepsOf(found: Found): string {
  const steps = found.steps;
  if (!steps) return "";
  return `embedding ${Math.round(steps.embed_ms)}, index ${Math.round(steps.index_ms)}, ranking ${Math.round(steps.fuse_ms)} ms`;
}

export default function Search() {
  const [query, change] = usePageQuery();
  const words = query["q"] ?? "";
  const [typed, setTyped] = useState(words);
  const input = useRef<HTMLInputElement>(null);
  const compares = query["compare"] !== undefined;
  useShortcuts({ "/": () => input.current?.focus() });
  useEffect(() => setTyped(words), [words]);
  const search = (event: FormEvent) => {
    event.preventDefault();
    change({ q: typed.trim() || undefined });
  };
  return (
    <Page title="Search" lead="Search the way your users do, and see how each result got its score.">
      <form className="search-form" role="search" onSubmit={search}>
        <input
          ref={input}
          type="search"
          value={typed}
          aria-label="Question"
          placeholder="When is the gate opened?"
          autoFocus={words === ""}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button type="submit" className="primary">
          <Icon name="search" /> Search
        </button>
        <label className="field inline">
          <input
            type="checkbox"
            checked={compares}
            onChange={(event) =>
              change(event.target.checked ? { compare: "1", ...(query["b.mode"] ? {} : { "b.mode": "text" }) } : { compare: undefined })
            }
          />
          Compare two settings
        </label>
      </form>
      <Sides words={words} compares={compares} />
    </Page>
  );
}

function Sides({ words, compares }: { words: string; compares: boolean }) {
  const [query] = usePageQuery();
  const a = useFound(words, settingOf(query, "a"), true);
  const b = useFound(words, settingOf(query, "b"), compares);
  return (
    <div className={compares ? "sides two" : "sides"}>
      <Results side="a" title={compares ? "Left" : "Results"} words={words} found={a} others={compares ? b.data?.hits : undefined} />
      {compares ? <Results side="b" title="Right" words={words} found={b} others={a.data?.hits} /> : null}
    </div>
  );
}

function useFound(words: string, setting: Setting, enabled: boolean) {
  return useQuery<Found, ApiError>({
    queryKey: ["/v1/search", words, setting, chosenTenant()],
    queryFn: () => post<Found>("/v1/search", bodyOf(words, setting)),
    enabled: enabled && words !== "",
    staleTime: 60_000,
  });
}

function Results({
  side,
  title,
  words,
  found,
  others,
}: {
  side: Side;
  title: string;
  words: string;
  found: ReturnType<typeof useFound>;
  others: Found["hits"] | undefined;
}) {
  const answer = found.data;
  const [query] = usePageQuery();
  const { mode } = settingOf(query, side);
  return (
    <section className="side-results" aria-label={title}>
      <SettingBar side={side} title={title} />
      {words === "" ? (
        side === "a" ? (
          <EmptyState title="Ask a question" command={'penstock search "when is the gate opened?"'}>
            <p>Search matches both meaning and words. Turn on “Compare two settings” to see what each finds.</p>
          </EmptyState>
        ) : null
      ) : found.error ? (
        <ErrorBox error={found.error} retry={() => void found.refetch()} />
      ) : !answer ? (
        <Loading what="Searching" />
      ) : (
        <>
          <p className="took" role="status">
            {plural(answer.hits.length, "result")} in <strong title={stepsOf(answer)}>{Math.round(answer.took_ms)} ms</strong>
            {answer.models.length ? <span className="quiet"> · {answer.models.join(", ")}</span> : <span className="quiet"> · words only</span>}
            {answer.steps ? <span className="quiet small"> · {stepsOf(answer)}</span> : null}
          </p>
          {answer.unavailable.map((each) => (
            <p key={each.embedder} className="notice warn">
              <Icon name="attention" /> {each.reason}. Documents of {each.projects.join(", ")} were found by words only.
            </p>
          ))}
          {answer.read_as ? (
            <p className="notice">
              <Icon name="search" /> Read as “{answer.read_as}”.
            </p>
          ) : null}
          {answer.no_good_match && answer.hits.length ? (
            <p className="notice warn">
              <Icon name="attention" /> No good match. These are the closest passages.
            </p>
          ) : null}
          {answer.hits.length === 0 ? (
            <EmptyState title="Nothing found">
              <p>No document contains these words or anything close in meaning. Check the project and the type, or lower the minimum relevance.</p>
            </EmptyState>
          ) : (
            <ol className="hits">
              {answer.hits.map((hit, index) => (
                <Hit key={keyOf(hit) + index} hit={hit} place={index} best={answer.hits[0]?.score ?? 1} move={moved(hit, index, others)} mode={mode} />
              ))}
            </ol>
          )}
        </>
      )}
    </section>
  );
}

function SettingBar({ side, title }: { side: Side; title: string }) {
  const [query, change] = usePageQuery();
  const setting = settingOf(query, side);
  const projects = useApi<Reply<"/v1/projects">>("/v1/projects", { live: ["projects"] }).data?.items ?? [];
  const models = [...new Set(projects.map((project) => project.embedder))];
  const set = (next: Partial<Setting>) => change(written(side, next), { replace: true });
  return (
    <div className="setting-bar" role="group" aria-label={`Settings, ${title.toLowerCase()}`}>
      <label>
        <span>Search by</span>
        <select value={setting.mode} onChange={(event) => set({ mode: event.target.value as Mode })}>
          <option value="hybrid">meaning and words</option>
          <option value="vector">meaning</option>
          <option value="text">words</option>
        </select>
      </label>
      <label>
        <span>Project</span>
        <select value={setting.project ?? ""} onChange={(event) => set({ project: event.target.value || null })}>
          <option value="">all</option>
          {projects.map((project) => (
            <option key={project.slug} value={project.slug}>
              {project.name || project.slug}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Type</span>
        <select value={setting.type ?? ""} onChange={(event) => set({ type: event.target.value || null })}>
          <option value="">all</option>
          {Object.entries(TYPES).map(([mime, name]) => (
            <option key={mime} value={mime}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Model</span>
        <select value={setting.embedder ?? ""} onChange={(event) => set({ embedder: event.target.value || null })}>
          <option value="">each project’s own</option>
          {[...new Set([...models, ...(setting.embedder ? [setting.embedder] : [])])].map((model) => (
            <option key={model} value={model}>
              {model}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Minimum relevance</span>
        <select value={setting.minScore ?? ""} onChange={(event) => set({ minScore: event.target.value === "" ? null : Number(event.target.value) })}>
          <option value="">any</option>
          {[0.25, 0.5, 0.75, 0.9].map((least) => (
            <option key={least} value={least}>
              {least * 100} %
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Results</span>
        <select value={setting.limit} onChange={(event) => set({ limit: Number(event.target.value) })}>
          {[5, 10, 25, 50, 100].map((limit) => (
            <option key={limit} value={limit}>
              {limit}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
