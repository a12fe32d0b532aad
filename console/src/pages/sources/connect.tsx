/** Connect a source: by consent at its provider, with a password, or by a webhook. */

import { useState } from "react";
import { post, type Reply, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useGo } from "../../app/address";
import { useMay } from "../../app/session";
import { Confirm } from "../../ui/dialog";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Page } from "../../ui/page";
import { Copied, ShownOnce } from "../../ui/shown-once";
import { CommandHint } from "../../ui/values";
import { toast } from "../../ui/toast";
import { useConnect } from "./actions";

type Kind = Schemas["SourceKind"];

const ABOUT: Readonly<Record<string, string>> = {
  hubspot: "Contacts, companies and deals, and what they state about each client",
  google_drive: "Documents, sheets and files in a drive",
  quickbooks: "Customers and invoices, and what they state about each client",
  gmail: "Emails and attachments, seconds after they arrive",
  outlook: "Emails and attachments, seconds after they arrive",
  imap: "Emails and attachments from any other mail server",
  folder: "Files in a folder on the worker’s machine",
  s3: "Objects in a bucket, every night and as its events arrive",
  webhook: "Documents that another system sends as signed requests",
};

export default function Connect() {
  const kinds = useApi<Reply<"/v1/source-kinds">>("/v1/source-kinds");
  const projects = useApi<Reply<"/v1/projects">>("/v1/projects").data?.items ?? [];
  const may = useMay("admin");
  const [project, setProject] = useState("default");
  const [form, setForm] = useState<Kind | null>(null);
  const connect = useConnect();
  if (!may)
    return (
      <Page title="Connect a source" back={{ to: "/sources", text: "Sources" }}>
        <EmptyState title="Connecting needs the admin role">
          <p>Ask an administrator of this installation to connect the source, or to give you the role.</p>
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Connect a source" back={{ to: "/sources", text: "Sources" }} lead="You grant access at the provider, and can revoke it there or here at any time.">
      <label className="field inline">
        Put its documents in project
        <select value={project} onChange={(event) => setProject(event.target.value)}>
          {projects.some((each) => each.slug === project) ? null : <option value={project}>{project}</option>}
          {projects.map((each) => (
            <option key={each.slug} value={each.slug}>
              {each.name || each.slug}
            </option>
          ))}
        </select>
      </label>
      <ErrorBox error={connect.error} />
      <Answer of={kinds}>
        {(answer) => (
          <ul className="cards small-cards">
            {answer.items.map((kind) => (
              <li key={kind.kind} className="card">
                <h2>{kind.title}</h2>
                <p className="quiet">{ABOUT[kind.kind] ?? "A provider from an installed package"}</p>
                {!kind.is_ready ? (
                  <details className="not-ready">
                    <summary>Not set up on this installation</summary>
                    <p>{kind.reason}.</p>
                    <p>{kind.remedy}</p>
                  </details>
                ) : kind.way === "consent" ? (
                  <button type="button" className="primary" disabled={connect.isPending} onClick={() => connect.mutate({ kind: kind.kind, project })}>
                    Connect {kind.title}
                  </button>
                ) : kind.way === "config" ? (
                  <CommandHint command={`penstock source add ${kind.kind}${kind.kind === "s3" ? " BUCKET/PREFIX" : ""}`} />
                ) : (
                  <button type="button" onClick={() => setForm(kind)}>
                    {kind.way === "webhook" ? "Create the webhook …" : kind.is_mailbox ? "Add a mailbox …" : `Add ${kind.title} …`}
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Answer>
      {form?.way === "password" ? <Mailbox project={project} onClose={() => setForm(null)} /> : null}
      {form?.way === "webhook" ? <Webhook project={project} onClose={() => setForm(null)} /> : null}
    </Page>
  );
}

function Mailbox({ project, onClose }: { project: string; onClose: () => void }) {
  const go = useGo();
  const [given, setGiven] = useState({ host: "", user: "", password: "", port: "993", security: "tls" });
  const add = useAction(
    (_: null) =>
      post<Schemas["Source"]>("/v1/sources/imap", {
        host: given.host.trim(),
        user: given.user.trim(),
        password: given.password,
        port: Number(given.port) || undefined,
        security: given.security,
        project,
      }),
    ["sources"],
    (source) => {
      toast("The mailbox was added. Its first sync is starting.");
      go(`/sources/${source.source_id}`);
    },
  );
  const field = (name: keyof typeof given, label: string, type = "text") => (
    <label className="field">
      {label}
      <input type={type} required value={given[name]} autoComplete="off" onChange={(event) => setGiven({ ...given, [name]: event.target.value })} />
    </label>
  );
  return (
    <Confirm open onClose={onClose} title="Add a mailbox" verb="Add the mailbox" busy={add.isPending} error={add.error} onConfirm={() => add.mutate(null)}>
      {field("host", "Mail server")}
      {field("user", "User")}
      {field("password", "Password", "password")}
      {field("port", "Port", "number")}
      <label className="field">
        Security
        <select value={given.security} onChange={(event) => setGiven({ ...given, security: event.target.value })}>
          <option value="tls">TLS</option>
          <option value="starttls">STARTTLS</option>
        </select>
      </label>
    </Confirm>
  );
}

function Webhook({ project, onClose }: { project: string; onClose: () => void }) {
  const [made, setMade] = useState<Schemas["SourceSecret"] | null>(null);
  const create = useAction((_: null) => post<Schemas["SourceSecret"]>("/v1/sources/webhook", { project }), ["sources"], setMade);
  return made ? (
    <ShownOnce of={made} title="The webhook is ready" onClose={onClose}>
      <p>Send signed documents to this address:</p>
      <Copied text={location.origin + made.path} label="Copy the address" />
      <p>Its secret is shown only now:</p>
    </ShownOnce>
  ) : (
    <Confirm open onClose={onClose} title="Create the webhook" verb="Create the webhook" busy={create.isPending} error={create.error} onConfirm={() => create.mutate(null)}>
      <p>Another system sends documents as signed requests. There is one webhook for each tenant.</p>
    </Confirm>
  );
}
