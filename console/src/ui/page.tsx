/** The frame of a page: title, what it is about, actions, sections, facts. */

import { useEffect, useLayoutEffect, useRef, type ReactNode } from "react";
import { A } from "../app/address";
import { Icon } from "./icons";

export function Page({
  title,
  lead,
  actions,
  back,
  children,
}: {
  /** Text, because it is the document's title too. */
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** Where this page belongs: `{ to: "/queues", text: "Queues" }`. */
  back?: { to: string; text: string };
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Penstock`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          {back ? (
            <A to={back.to} className="back">
              {back.text}
              <Icon name="chevron" />
            </A>
          ) : null}
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {lead ? <div className="lead">{lead}</div> : null}
        </div>
        {actions ? <div className="actions">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

export function Section({ title, actions, children, id }: { title: string; actions?: ReactNode; children: ReactNode; id?: string }) {
  return (
    <section className="section" id={id} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions ? <div className="actions">{actions}</div> : null}
      </header>
      {children}
    </section>
  );
}

/** Names and values, side by side. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode] | null | false)[] }) {
  return (
    <dl className="facts">
      {facts.map((fact) =>
        fact ? (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** One big number with its name; the whole is a link where there is more to see. */
export function Figure({ name, value, note, to, tone }: { name: string; value: ReactNode; note?: ReactNode; to?: string; tone?: string | undefined }) {
  const inside = (
    <>
      <span className="figure-name">{name}</span>
      <span className={tone ? `figure-value tone-text-${tone}` : "figure-value"}>{value}</span>
      {note ? <span className="figure-note">{note}</span> : null}
    </>
  );
  return to ? (
    <A to={to} className="figure">
      {inside}
    </A>
  ) : (
    <div className="figure">{inside}</div>
  );
}

/** A plain table for short lists. On a phone its cells stand below each other, each with the name of its column. */
export function Table({
  head,
  children,
  label,
}: {
  head: readonly (string | { text: string; right: true })[];
  children: ReactNode;
  label: string;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const names = head.map((cell) => (typeof cell === "string" ? cell : cell.text));
  // After every drawing: rows are components of the page, which know nothing of their columns' names.
  useLayoutEffect(() => {
    for (const row of body.current?.rows ?? []) [...row.cells].forEach((cell, index) => cell.setAttribute("data-label", names[index] ?? ""));
  });
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={label}>
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col" className={typeof cell === "string" ? undefined : "right"}>
                {names[index]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}
