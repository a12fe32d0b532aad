/** A list of any length: only the rows in view are drawn, more are fetched on the way down. j, k, Enter and x work. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { A, useGo, usePageQuery } from "../app/address";
import { useShortcuts } from "../app/shortcuts";
import { count } from "../lib/numbers";
import { everyOne, has, MOST_IDS, NONE, toggled, type Selection } from "../lib/selection";
import { nextSort, parseSort, sortedBy, type SortValue } from "../lib/sorting";
import type { Rows } from "../api/queries";
import { ErrorBox, Loading } from "./notices";

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  readonly render: (row: Row) => ReactNode;
  /** Of the first column: what stands behind the link. */
  readonly after?: (row: Row) => ReactNode;
  /** A CSS grid track: `minmax(12rem, 2fr)`, `6rem`. */
  readonly width?: string;
  readonly right?: boolean;
  /** Several lines rather than an ellipsis. */
  readonly wrap?: boolean;
  /** The first column is the card's title on a phone; this one is left out there. */
  readonly wideOnly?: boolean;
  /** By what the column sorts, once the whole list is loaded. `server`: the API orders by the column's key at any length. */
  readonly sort?: "server" | ((row: Row) => SortValue);
}

export interface VirtualTableProps<Row> {
  readonly label: string;
  readonly list: Rows<Row>;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Where a row leads; the first column becomes the link. */
  readonly rowHref?: (row: Row) => string;
  readonly empty: ReactNode;
  /** With both, rows can be chosen. */
  readonly selection?: Selection;
  readonly onSelect?: (selection: Selection) => void;
}

const ROW = 37;

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const [begun, setBegun] = useState(0);
  const restart = () => {
    setBegun(begun + 1); // a new box: the virtualizer of the old one remembers how far down it was, and would load as far
    props.list.restart();
  };
  return <Scrolled key={begun} {...props} onRestart={restart} />;
}

function Scrolled<Row>(props: VirtualTableProps<Row> & { readonly onRestart: () => void }) {
  const { list, columns, rowKey, rowHref, selection = NONE, onSelect } = props;
  const [query, change] = usePageQuery();
  const sort = parseSort(query["sort"]);
  const sorts = (column: Column<Row>) => column.sort && (column.sort === "server" || !list.hasMore);
  const by = columns.find((column) => column.key === sort?.key && sorts(column))?.sort;
  const rows = useMemo(() => (typeof by === "function" ? sortedBy(list.rows, by, sort?.down ?? false) : list.rows), [list.rows, by, sort?.down]);
  const box = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(-1);
  const go = useGo();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    // The same function as long as the rows are the same: otherwise every scroll measures them all again.
    getItemKey: useCallback((index: number) => rowKey(rows[index] as Row), [rows]),
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;

  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 30) list.loadMore();
  }, [last, rows.length, list]);

  const move = (to: number) => {
    if (rows.length === 0) return;
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setCursor(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const current = rows[cursor];
  useShortcuts({
    j: () => move(cursor + 1),
    k: () => move(cursor - 1),
    ...(current && rowHref ? { Enter: () => go(rowHref(current)) } : {}),
    ...(current && onSelect ? { x: () => onSelect(toggled(selection, rowKey(current), rows.map(rowKey))) } : {}),
    ...(onSelect && !(selection.all === false && selection.ids.size === 0) ? { Escape: () => onSelect(NONE) } : {}),
  });

  if (list.isPending) return list.error ? <ErrorBox error={list.error} retry={list.refetch} /> : <Loading />;
  if (rows.length === 0 && list.error) return <ErrorBox error={list.error} retry={list.refetch} />;
  if (rows.length === 0)
    return list.hasMore ? (
      <div className="empty">
        <p>Nothing so far: only a part of the list was looked through.</p>
        <button type="button" disabled={list.isFetchingMore} onClick={list.loadMore}>
          {list.isFetchingMore ? "Looking …" : "Look further"}
        </button>
      </div>
    ) : (
      props.empty
    );

  const tracks = [...(onSelect ? ["1.5rem"] : []), ...columns.map((column) => column.width ?? "minmax(6rem, 1fr)")].join(" ");
  const everyLoaded = selection.all || (selection.ids.size >= rows.length && rows.every((row) => has(selection, rowKey(row))));
  return (
    <>
      {list.error ? <ErrorBox error={list.error} retry={list.refetch} /> : null}
      {list.hasChanged ? (
        <p className="list-changed" role="status">
          The list has changed since you scrolled down.{" "}
          <button type="button" className="link" onClick={props.onRestart}>
            Show it from the top
          </button>
        </p>
      ) : null}
      <div ref={box} className="vtable" role="table" aria-label={props.label} aria-rowcount={list.total ?? rows.length} tabIndex={0} style={{ ["--tracks" as string]: tracks }}>
        <div className="vtable-head" role="rowgroup">
          <div className="vtable-row" role="row">
            {onSelect ? (
              <div role="columnheader" className="check">
                <input
                  type="checkbox"
                  aria-label={rows.length > MOST_IDS ? "Select all that match" : `Select the ${count(rows.length)} rows shown`}
                  checked={everyLoaded}
                  onChange={() => onSelect(everyLoaded ? NONE : everyOne(rows.map(rowKey)))}
                />
              </div>
            ) : null}
            {columns.map((column) => (
              <div
                key={column.key}
                role="columnheader"
                className={column.right ? "right" : ""}
                aria-sort={by && sort?.key === column.key ? (sort.down ? "descending" : "ascending") : undefined}
              >
                {sorts(column) ? (
                  <button type="button" className="column-sort" onClick={() => change({ sort: nextSort(sort, column.key) })}>
                    {column.label}
                  </button>
                ) : (
                  column.label
                )}
              </div>
            ))}
          </div>
        </div>
        <div className="vtable-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index] as Row;
            const id = rowKey(row);
            const chosen = has(selection, id);
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                data-key={id}
                role="row"
                aria-rowindex={item.index + 2}
                aria-selected={onSelect ? chosen : undefined}
                className={`vtable-row${item.index === cursor ? " current" : ""}${chosen ? " chosen" : ""}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {onSelect ? (
                  <div role="cell" className="check">
                    <input
                      type="checkbox"
                      aria-label={`Select ${id}`}
                      checked={chosen}
                      onChange={() => onSelect(toggled(selection, id, rows.map(rowKey)))}
                    />
                  </div>
                ) : null}
                <Cells row={row} columns={columns as readonly Column<unknown>[]} href={rowHref?.(row)} />
              </div>
            );
          })}
        </div>
      </div>
      <p className="vtable-foot" role="status">
        {list.isFetchingMore
          ? "Loading more …"
          : list.total === null
            ? `${count(rows.length)} ${list.hasMore ? "loaded, more below" : "in all"}`
            : `${count(Math.min(rows.length, list.total || rows.length))} of ${count(list.total, list.approximate)}`}
      </p>
    </>
  );
}

/** Drawn once for each row: scrolling draws only those that come into view. */
const Cells = memo(function Cells({ row, columns, href }: { row: unknown; columns: readonly Column<unknown>[]; href: string | undefined }) {
  return columns.map((column, index) => {
    const inside = column.render(row);
    const classes = [column.right ? "right" : "", column.wideOnly ? "wide-only" : "", column.wrap ? "wrap" : "", index === 0 ? "first" : ""].join(" ").trim();
    return (
      <div key={column.key} role="cell" className={classes} data-label={column.label}>
        {index === 0 && href !== undefined ? (
          <>
            <A to={href} className="row-link">
              {inside}
            </A>
            {column.after?.(row)}
          </>
        ) : (
          inside
        )}
      </div>
    );
  });
});
