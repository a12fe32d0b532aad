/** A list with its filter, and what can be done to all that match it. */

import type { ReactNode } from "react";
import { useRows, type LiveOptions } from "../api/queries";
import { usePageQuery } from "../app/address";
import type { Field, Query } from "../lib/filters";
import { parseSort } from "../lib/sorting";
import { BulkBar, type BulkAction } from "./bulk-bar";
import { FilterBar, useFilter } from "./filter-bar";
import { EmptyState } from "./notices";
import { useSelection } from "./use-selection";
import { VirtualTable, type Column } from "./virtual-table";

export interface ActingListProps<Row> {
  readonly label: string;
  /** Where the API lists it. The filter's fields are what this call and operations both take. */
  readonly path: string;
  readonly options: LiveOptions;
  readonly fields: readonly Field[];
  /** What the list's address says and an operation has to be told: the source of its rows. */
  readonly also?: Query;
  /** The page's name for saved views. */
  readonly page: string;
  readonly placeholder: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly rowHref?: (row: Row) => string;
  /** None for somebody who may not act. */
  readonly actions: readonly BulkAction[];
  /** Where nothing is, and no filter is to blame. */
  readonly empty: ReactNode;
}

export function ActingList<Row>(props: ActingListProps<Row>) {
  const filter = useFilter(props.fields);
  const [selection, select] = useSelection();
  const sort = usePageQuery()[0]["sort"];
  const ordered = props.columns.some((column) => column.sort === "server" && column.key === parseSort(sort)?.key);
  const list = useRows<Row>(props.path, props.rowKey, { ...props.options, query: { ...props.options.query, ...filter, ...(ordered ? { sort } : {}) } });
  const acts = props.actions.length > 0;
  return (
    <>
      <FilterBar fields={props.fields} page={props.page} placeholder={props.placeholder} />
      <VirtualTable
        label={props.label}
        list={list}
        columns={props.columns}
        rowKey={props.rowKey}
        {...(props.rowHref ? { rowHref: props.rowHref } : {})}
        {...(acts ? { selection, onSelect: select } : {})}
        empty={Object.keys(filter).length ? <EmptyState title="Nothing matches">Remove part of the filter to see more.</EmptyState> : props.empty}
      />
      {acts ? (
        <BulkBar
          actions={props.actions}
          filter={{ ...filter, ...props.also }}
          selection={selection}
          onSelect={select}
          total={list.total}
          approximate={list.approximate}
          loaded={list.rows.length}
          changes={props.options.live ?? []}
        />
      ) : null}
    </>
  );
}
