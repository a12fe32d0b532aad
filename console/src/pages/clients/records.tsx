/** The records of a client: split one off, edit or delete what was written by hand. */

import { useState } from "react";
import { patch, post, remove, type Schemas } from "../../api/client";
import { useAction } from "../../api/queries";
import { A, useGo } from "../../app/address";
import { count } from "../../lib/numbers";
import { Confirm } from "../../ui/dialog";
import { Section, Table } from "../../ui/page";
import { toast } from "../../ui/toast";
import { Name, Time } from "../../ui/values";
import { kindName } from "../sources/words";
import { ClientForm } from "./client-form";
import { choiceWords } from "./facts";

type Details = Schemas["ClientDetails"];
type ClientRecord = Schemas["ClientRecord"];

export function SourceName({ record, source }: { record: ClientRecord | undefined; source: string }) {
  if (source === "manual") return <>by hand</>;
  const name = record?.source_name ?? kindName(source);
  return record?.source_id ? (
    <>
      <A to={`/sources/${record.source_id}`}>
        <Name>{name}</Name>
      </A>
      <div className="quiet small">{kindName(source)}</div>
    </>
  ) : (
    <Name>{name}</Name>
  );
}

export function Records({ client, may }: { client: Details; may: boolean }) {
  const go = useGo();
  const [splitting, setSplitting] = useState<ClientRecord | null>(null);
  const [editing, setEditing] = useState<ClientRecord | null>(null);
  const [dropping, setDropping] = useState<ClientRecord | null>(null);
  const split = useAction(
    (record: ClientRecord) => post<Details>(`/v1/clients/${client.client_id}/split`, { record_id: record.record_id }),
    ["clients"],
    (made) => {
      setSplitting(null);
      toast(
        <>
          It is now its own client: <A to={`/clients/${made.client_id}`}>{made.name}</A>
        </>,
      );
    },
  );
  const save = useAction(
    (wanted: { record: ClientRecord; body: Record<string, unknown> }) => patch(`/v1/clients/${wanted.record.record_id}`, wanted.body),
    ["clients"],
    () => {
      setEditing(null);
      toast("Saved.");
    },
  );
  const isLast = client.record_count <= 1;
  const drop = useAction(
    (record: ClientRecord) => remove(`/v1/clients/${record.record_id}`),
    ["clients"],
    () => {
      setDropping(null);
      toast("The record was deleted.");
      if (isLast) go("/clients", { replace: true });
    },
    isLast ? `/v1/clients/${client.client_id}` : undefined,
  );
  const factsOfRecord = (record: ClientRecord) =>
    Object.fromEntries(client.facts.filter((fact) => fact.record_id === record.record_id).map((fact) => [fact.name, fact.value]));
  return (
    <Section title="Records">
      <Table label="Records" head={["Name", "Source", "Industry", { text: "Changed", right: true }, ""]}>
        {client.records.map((record) => (
          <tr key={record.record_id}>
            <td>
              <Name>{record.name}</Name>
              {record.external_id ? <div className="quiet small mono">{record.external_id}</div> : null}
            </td>
            <td>
              <SourceName record={record} source={record.source} />
            </td>
            <td>{record.industry ? <bdi>{choiceWords(record.industry)}</bdi> : <span className="zero">–</span>}</td>
            <td className="right">
              <Time at={record.updated_at} />
            </td>
            <td className="right">
              {may ? (
                <span className="row-actions">
                  {record.source === "manual" ? (
                    <>
                      <button type="button" aria-label={`Edit ${record.name}`} onClick={() => setEditing(record)}>
                        Edit …
                      </button>
                      <button type="button" className="danger" aria-label={`Delete ${record.name}`} onClick={() => setDropping(record)}>
                        Delete …
                      </button>
                    </>
                  ) : null}
                  {client.record_count > 1 ? (
                    <button type="button" aria-label={`Split off ${record.name}`} onClick={() => setSplitting(record)}>
                      Split off …
                    </button>
                  ) : null}
                </span>
              ) : null}
            </td>
          </tr>
        ))}
      </Table>
      {client.record_count > client.records.length ? (
        <p className="quiet small">and {count(client.record_count - client.records.length)} more with fewer facts</p>
      ) : null}
      <Confirm
        open={splitting !== null}
        onClose={() => setSplitting(null)}
        title="Split off 1 record?"
        verb="Split off 1 record"
        busy={split.isPending}
        error={split.error}
        onConfirm={() => splitting && split.mutate(splitting)}
      >
        <p>
          <bdi>{splitting?.name}</bdi> becomes its own client and stays separate, also after later syncs, until somebody joins it with another.
        </p>
      </Confirm>
      <Confirm
        open={dropping !== null}
        onClose={() => setDropping(null)}
        title="Delete 1 record?"
        verb="Delete 1 record"
        danger
        busy={drop.isPending}
        error={drop.error}
        onConfirm={() => dropping && drop.mutate(dropping)}
      >
        <p>
          What was entered by hand about <bdi>{dropping?.name}</bdi> is deleted. Facts from sources stay.
        </p>
      </Confirm>
      {editing ? (
        <ClientForm
          title="Edit the manual record"
          verb="Save"
          start={{ name: editing.name, industry: editing.industry, summary: editing.summary, facts: factsOfRecord(editing) }}
          busy={save.isPending}
          error={save.error}
          onClose={() => setEditing(null)}
          onSave={(body) => save.mutate({ record: editing, body })}
        />
      ) : null}
    </Section>
  );
}
