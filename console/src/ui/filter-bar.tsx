/** The filter of a list: tokens that stand in the URL, with completion, exclusion, and the team's saved views. */

import { useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { usePageQuery } from "../app/address";
import { useShortcuts } from "../app/shortcuts";
import { filterOf, parseTyped, tokensOf, withoutToken, withToken, type Field, type Query, type Token } from "../lib/filters";
import { Icon } from "./icons";
import { SavedViews } from "./saved-views";
import { labelOf, suggestions, type Suggestion } from "./suggestions";

export interface FilterBarProps {
  readonly fields: readonly Field[];
  /** The page's name for saved views: "documents". Without it there is no menu. */
  readonly page?: string;
  readonly placeholder?: string;
}

/** The part of the URL's query the API's list takes. */
export function useFilter(fields: readonly Field[]): Query {
  const [query] = usePageQuery();
  return useMemo(() => filterOf(query, fields), [query, fields]);
}

export function FilterBar({ fields, page, placeholder }: FilterBarProps) {
  const [query, change] = usePageQuery();
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  useShortcuts({ "/": () => input.current?.focus() });

  const tokens = tokensOf(query, fields);
  const found = suggestions(typed, fields);
  const apply = (next: Query) => {
    const all = Object.fromEntries(fields.map((field) => [field.name, next[field.name]]));
    change({ ...all, sel: undefined });
    setAt(-1);
  };
  const fieldOf = (token: Token) => fields.find((field) => field.name === token.field) as Field;
  const add = (token: Token | null) => {
    if (!token) return;
    setTyped("");
    setOpen(false);
    apply(withToken(query, fieldOf(token), token));
  };
  const choose = (suggestion: Suggestion) => {
    if (suggestion.token) add(suggestion.token);
    else {
      setTyped(suggestion.typed);
      setAt(-1);
      input.current?.focus();
    }
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(-1, at - 1));
    else if (event.key === "Enter") {
      const chosen = found[at];
      if (chosen) choose(chosen);
      else add(parseTyped(typed, fields));
    } else if (event.key === "Escape") {
      if (typed === "") input.current?.blur();
      setTyped("");
      setOpen(false);
    } else if (event.key === "Backspace" && typed === "" && tokens.length > 0) {
      const token = tokens.at(-1) as Token;
      apply(withoutToken(query, fieldOf(token), token));
    } else return;
    event.preventDefault();
  };

  return (
    <div className="filter" role="search">
      <div className="filter-box" onClick={(event) => event.target === event.currentTarget && input.current?.focus()}>
        <Icon name="search" />
        {tokens.map((token) => {
          const field = fieldOf(token);
          const label = labelOf(field, token.value);
          return (
            <span key={token.field + token.value} className={token.excluded ? "token excluded" : "token"}>
              <button
                type="button"
                className="token-text"
                disabled={field.plain || field.text}
                title={field.plain || field.text ? undefined : token.excluded ? "Click to include" : "Click to exclude"}
                onClick={() => apply(withToken(query, field, { ...token, excluded: !token.excluded }))}
              >
                <span className="token-field">
                  {token.excluded ? "not " : ""}
                  {field.label}
                </span>{" "}
                <bdi>{label}</bdi>
              </button>
              <button type="button" className="icon-button" aria-label={`Remove ${field.label} ${label}`} onClick={() => apply(withoutToken(query, field, token))}>
                <Icon name="close" />
              </button>
            </span>
          );
        })}
        <input
          ref={input}
          value={typed}
          placeholder={tokens.length ? "" : (placeholder ?? "Filter")}
          aria-label="Filter"
          role="combobox"
          aria-expanded={open && found.length > 0}
          aria-controls={listId}
          aria-activedescendant={at >= 0 ? `${listId}-${at}` : undefined}
          autoComplete="off"
          spellCheck={false}
          onFocus={() => setOpen(true)}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
          onChange={(event) => {
            setTyped(event.target.value);
            setOpen(true);
            setAt(-1);
          }}
          onKeyDown={pressed}
        />
        {tokens.length > 1 ? (
          <button type="button" className="link" onClick={() => apply({})}>
            Clear
          </button>
        ) : null}
        {open && found.length > 0 ? (
          <ul className="suggestions" id={listId} role="listbox" aria-label="Suggestions">
            {found.map((suggestion, index) => (
              <li
                key={suggestion.typed}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseDown={(event) => {
                  event.preventDefault();
                  choose(suggestion);
                }}
              >
                <span>{suggestion.text}</span>
                {suggestion.note ? <span className="quiet">{suggestion.note}</span> : null}
              </li>
            ))}
          </ul>
        ) : null}
      </div>
      {page ? <SavedViews page={page} /> : null}
    </div>
  );
}
