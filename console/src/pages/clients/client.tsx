/** One client: each fact with its source and date, why its records are one, split and join, edit what was written by hand. */

import { useState } from "react";
import type { Schemas } from "../../api/client";
import { useApi } from "../../api/queries";
import { A, useParam } from "../../app/address";
import { useMay } from "../../app/session";
import { plural } from "../../lib/numbers";
import { Answer, ErrorBox } from "../../ui/notices";
import { Page, Section, Table } from "../../ui/page";
import { Name, Time } from "../../ui/values";
import { choiceWords, listed, shown } from "./facts";
import { Join } from "./join";
import { Records, SourceName } from "./records";

type Details = Schemas["ClientDetails"];

export default function ClientPage() {
  const id = useParam("client");
  const found = useApi<Details>(`/v1/clients/${id}`, { live: ["clients"] });
  if (!found.data)
    return (
      <Page title="Client" back={{ to: "/clients", text: "Clients" }}>
        <Answer of={found}>{() => null}</Answer>
      </Page>
    );
  return <Shown client={found.data} error={found.error} />;
}

function Shown({ client, error }: { client: Details; error: unknown }) {
  const may = useMay("documents:write");
  const [joining, setJoining] = useState(false);
  return (
    <Page
      title={client.name}
      back={{ to: "/clients", text: "Clients" }}
      lead={
        <>
          {client.industry ? <><bdi>{choiceWords(client.industry)}</bdi> · </> : null}
          {plural(client.record_count, "record")}, changed <Time at={client.updated_at} />
        </>
      }
      actions={
        may ? (
          <button type="button" onClick={() => setJoining(true)}>
            Join with another …
          </button>
        ) : null
      }
    >
      <ErrorBox error={error} />
      {client.summary ? (
        <p className="summary" dir="auto">
          {client.summary}
        </p>
      ) : null}
      <FactsTable client={client} />
      <Records client={client} may={may} />
      <Reasons client={client} />
      <Documents client={client} />
      {joining ? <Join client={client} onClose={() => setJoining(false)} /> : null}
    </Page>
  );
}

function FactsTable({ client }: { client: Details }) {
  const newest = [...client.facts].sort((one, other) => one.name.localeCompare(other.name) || other.as_of.localeCompare(one.as_of));
  const records = new Map(client.records.map((record) => [record.record_id, record]));
  return (
    <Section title="Facts">
      {client.facts.length === 0 ? (
        <p className="quiet">No source has brought a fact about this client yet.</p>
      ) : (
        <Table label="Facts" head={["Fact", "Value", "From", { text: "As of", right: true }]}>
          {newest.map((fact, index) => {
            const record = records.get(fact.record_id);
            return (
              <tr key={`${fact.name}${fact.record_id}${index}`}>
                <td>
                  {newest[index - 1]?.name === fact.name ? (
                    <span className="visually-hidden">{fact.name.replaceAll("_", " ")}</span>
                  ) : (
                    <strong>
                      <bdi>{fact.name.replaceAll("_", " ")}</bdi>
                    </strong>
                  )}
                </td>
                <td>
                  <FactValue value={fact.value} />
                </td>
                <td>
                  <SourceName record={record} source={fact.source} />
                  {fact.item_count > 1 ? <div className="quiet small">{plural(fact.item_count, "item")}</div> : null}
                </td>
                <td className="right">
                  <Time at={fact.as_of} />
                </td>
              </tr>
            );
          })}
        </Table>
      )}
    </Section>
  );
}

/** Several invoices or deals are a list; everything else is a line. */
function FactValue({ value }: { value: unknown }) {
  const several = listed(value);
  if (!several) return <bdi>{shown(value)}</bdi>;
  return (
    <ul className="fact-list">
      {several.map((each, index) => (
        <li key={index}>
          <bdi>{shown(each)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Reasons({ client }: { client: Details }) {
  if (client.reasons.length === 0) return null;
  return (
    <Section title="Why these records are one client">
      <ul className="reasons">
        {client.reasons.map((reason) => (
          <li key={reason.key + reason.value}>
            {reason.key === "join" ? (
              <>
                {reason.decided_by ? <bdi>{reason.decided_by}</bdi> : "Somebody"} joined {plural(reason.record_count, "record")} <Time at={reason.decided_at} />
              </>
            ) : (
              <>
                {plural(reason.record_count, "record")} {reason.record_count === 1 ? "has" : "have"} the {reason.key} <strong><bdi>{reason.value}</bdi></strong>
                {reason.origins.length ? <span className="quiet"> ({reason.origins.join(", ").replaceAll("_", " ")})</span> : null}
              </>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Documents({ client }: { client: Details }) {
  if (client.documents.length === 0) return null;
  return (
    <Section title="Documents">
      <Table label="Documents" head={["Title", "Kind", { text: "Changed", right: true }]}>
        {client.documents.map((document) => (
          <tr key={document.document_id}>
            <td>
              <A to={`/documents/${document.document_id}`}>
                <Name>{document.title ?? document.external_id}</Name>
              </A>
            </td>
            <td>{document.document_type.replaceAll("_", " ").replace(".", " ")}</td>
            <td className="right">
              <Time at={document.updated_at} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
