/** The order of a list that has no columns to click on; it stands in the URL. */

import { usePageQuery } from "../app/address";

export type Orders = readonly (readonly [value: string, label: string])[];

/** The first order is the list's own and is not written. */
export function useOrder(orders: Orders): string {
  const [query] = usePageQuery();
  return orders.find(([value]) => value === query["sort"])?.[0] ?? orders[0]?.[0] ?? "";
}

export function SortSelect({ orders }: { orders: Orders }) {
  const [, change] = usePageQuery();
  const order = useOrder(orders);
  return (
    <label className="sort">
      <span className="visually-hidden">Order</span>
      <select value={order} onChange={(event) => change({ sort: event.target.value === orders[0]?.[0] ? undefined : event.target.value })}>
        {orders.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
