/** One inlet: what it reads, what it counted, and the newest messages it refused. */

import type { Reply } from "../../api/client";
import { useApi } from "../../api/queries";
import { useParam } from "../../app/address";
import { useMayRun } from "../../app/session";
import { count } from "../../lib/numbers";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Facts, Page, Section, Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { Duration, Name, Time } from "../../ui/values";
import { stateOf, useSwitch } from "./inlets";

export default function InletPage() {
  const name = useParam("name");
  const found = useApi<Reply<"/v1/inlets/{name}">>(`/v1/inlets/${encodeURIComponent(name)}`, { live: ["inlets"] });
  const may = useMayRun();
  const toggle = useSwitch();
  return (
    <Page
      title={name}
      back={{ to: "/inlets", text: "Inlets" }}
      actions={
        may && found.data ? (
          <button type="button" disabled={toggle.isPending} onClick={() => found.data && toggle.mutate(found.data.inlet)}>
            {found.data.inlet.enabled ? "Pause" : "Resume"}
          </button>
        ) : null
      }
    >
      <ErrorBox error={toggle.error} />
      <Answer of={found}>
        {({ inlet, refusals }) => (
          <>
            {inlet.error ? <ErrorBox error={inlet.error} /> : null}
            <Section title="Facts">
            <Facts
              facts={[
                ["State", <StateBadge state={stateOf(inlet)} />],
                ["Reads", <Name mono>{inlet.source}</Name>],
                ["Tenant", inlet.tenant ?? "as its messages say"],
                ["Task types", inlet.task_types?.join(", ") ?? "any"],
                ["Received", count(inlet.received)],
                ["Taken", count(inlet.taken)],
                ["Duplicates", count(inlet.duplicates)],
                ["Refused", count(inlet.refused)],
                ["Last message", <Time at={inlet.last_received_at} />],
                ["Lag", <Duration seconds={inlet.lag_seconds} />],
                inlet.holder ? ["Read by", <Name>{inlet.holder}</Name>] : null,
              ]}
            />
            </Section>
            <Section title="Refused messages">
              {refusals.length ? (
                <Table head={["Time", "Message", "Reason"]} label="Refused messages">
                  {refusals.map((refusal, index) => (
                    <tr key={index}>
                      <td>
                        <Time at={refusal.at} />
                      </td>
                      <td>
                        <Name mono>{refusal.message_key}</Name>
                      </td>
                      <td>
                        <bdi>{refusal.reason}</bdi>
                      </td>
                    </tr>
                  ))}
                </Table>
              ) : (
                <EmptyState title="None">Messages that cannot become a task go to the sender's own dead-letter queue and are listed here for 30 days.</EmptyState>
              )}
            </Section>
          </>
        )}
      </Answer>
    </Page>
  );
}
