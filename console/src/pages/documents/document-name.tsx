/** A document in a list: its file name, and its folder where there is room. */

import { Name } from "../../ui/values";
import { nameOf, partsOf } from "./names";

export function DocumentName({ of }: { of: Parameters<typeof nameOf>[0] }) {
  const { name, folder } = partsOf(of);
  if (folder === "") return <Name>{name}</Name>;
  return (
    <span className="document-name" title={nameOf(of)}>
      <bdi className="name">{name}</bdi> <bdi className="name folder">{folder}</bdi>
    </span>
  );
}
