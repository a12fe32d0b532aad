/** The selection of a list: in the URL as far as it fits, otherwise in memory. */

import { useState } from "react";
import { usePageQuery } from "../app/address";
import { parseSelection, writeSelection, type Selection } from "../lib/selection";

export function useSelection(): [Selection, (selection: Selection) => void] {
  const [query, change] = usePageQuery();
  const [large, setLarge] = useState<Selection | null>(null);
  const selection = query["sel"] === undefined && large ? large : parseSelection(query["sel"]);
  return [
    selection,
    (next) => {
      const text = writeSelection(next);
      setLarge(text === undefined && !next.all && next.ids.size > 0 ? next : null);
      change({ sel: text }, { replace: true });
    },
  ];
}
