/** One bulk operation: progress and cancel while it runs, the receipt afterwards. */

import { post } from "../../api/client";
import { useAction, useRows } from "../../api/queries";
import type { OperationItem as Item } from "../../api/operate";
import { A, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { actionName, isRunning, Progress, useOperation, type Operation } from "../../ui/operation";
import { Facts, Page, Section } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { hrefOf } from "./items";

export default function OperationPage() {
  const id = useParam("operation");
  const found = useOperation(id);
  const may = useMay("operate");
  const cancel = useAction((_: null) => post(`/v1/operations/${id}/cancel`), ["operations", `operation:${id}`]);
  const operation = found.data;
  return (
    <Page
      title={operation ? actionName(operation.action) : "Operation"}
      back={{ to: "/operations", text: "Operations" }}
      lead={operation ? <StateBadge state={operation.state} /> : null}
      actions={
        may && operation && isRunning(operation) ? (
          <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate(null)}>
            Cancel
          </button>
        ) : null
      }
    >
      <ErrorBox error={cancel.error} />
      <Answer of={found}>
        {(shown) => (
          <>
            <Section title={isRunning(shown) ? "Progress" : "Receipt"}>
              <Progress operation={shown} />
              {shown.error ? <p className="tone-text-bad"><bdi>{shown.error}</bdi></p> : null}
              <Facts
                facts={[
                  ["Started by", <Name>{shown.by}</Name>],
                  ["Started", <Time at={shown.started_at} />],
                  ["Ended", <Time at={shown.finished_at} />],
                  ["On", <Filter operation={shown} />],
                ]}
              />
            </Section>
            <Items id={id} action={shown.action} isOver={!isRunning(shown)} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function Filter({ operation }: { operation: Operation }) {
  const parts = Object.entries(operation.filter).map(([name, value]) =>
    name === "ids" && Array.isArray(value) ? `${value.length} chosen` : `${name === "q" ? "text" : name.replaceAll("_", " ")} ${String(value)}`,
  );
  return <bdi>{parts.join(", ") || "everything"}</bdi>;
}

function Linked({ to, text }: { to: string | null; text: string }) {
  const name = <Name mono>{text}</Name>;
  return to === null ? name : <A to={to}>{name}</A>;
}

function Items({ id, action, isOver }: { id: string; action: string; isOver: boolean }) {
  const list = useRows<Item>(`/v1/operations/${id}/items`, (item) => String(item.ordinal), {
    query: { limit: 100 },
    live: [`operation:${id}`, "operations"],
  });
  const columns: readonly Column<Item>[] = [
    { key: "item", label: "Item", width: "minmax(10rem, 1fr)", render: (item) => <Linked to={hrefOf(action, item.item)} text={item.item} /> },
    { key: "outcome", label: "Outcome", width: "9rem", render: (item) => <StateBadge state={item.outcome ?? (isOver ? "stopped" : "waiting")} word={item.outcome === null && isOver ? "not reached" : undefined} /> },
    { key: "reason", label: "Reason", width: "minmax(10rem, 2fr)", render: (item) => (item.reason ? <Name>{item.reason}</Name> : <span className="zero">–</span>) },
  ];
  return <VirtualTable label="Items" list={list} columns={columns} rowKey={(item) => String(item.ordinal)} empty={<EmptyState title="No item yet" />} />;
}
