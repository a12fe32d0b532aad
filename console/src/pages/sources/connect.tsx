/** Connect a source: by consent at its provider, with a password, or by a webhook. */

import { useState } from "react";
import { post, type Reply, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useGo } from "../../app/address";
import { useMay } from "../../app/session";
import { Dialog } from "../../ui/dialog";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Page } from "../../ui/page";
import { CommandHint, Copy } from "../../ui/values";
import { toast } from "../../ui/toast";
import { useConnect } from "./actions";

type Kind = Schemas["SourceKind"];

const ABOUT: Readonly<Record<string, string>> = {
  hubspot: "Contacts, companies and deals, and what they state about each client",
  google_drive: "Documents, sheets and files of a drive",
  quickbooks: "Customers and invoices, and what they state about each client",
  gmail: "Mails and attachments, seconds after they arrive",
  outlook: "Mails and attachments, seconds after they arrive",
  imap: "Mails and attachments of any other mail server",
  folder: "Files of a folder on the worker’s machine",
  webhook: "Documents that another system sends, signed",
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
        <EmptyState title="Connecting needs the role admin">
          <p>Ask an administrator of this installation to connect the source, or to give you the role.</p>
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Connect a source" back={{ to: "/sources", text: "Sources" }} lead="You grant access at the provider, and can take it back there or here at any time.">
      <label className="field inline">
        Its documents go to the project
        <select value={project} onChange={(event) => setProject(event.target.value)}>
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
                <p className="quiet">{ABOUT[kind.kind] ?? "A provider of an installed package"}</p>
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
                  <CommandHint command={`penstock source add ${kind.kind}`} />
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
      toast("The mailbox was added, and its first sync begins.");
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
    <Dialog open onClose={onClose} title="Add a mailbox">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(null);
        }}
      >
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
        <ErrorBox error={add.error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={add.isPending}>
            {add.isPending ? "Working …" : "Add the mailbox"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function Webhook({ project, onClose }: { project: string; onClose: () => void }) {
  const [made, setMade] = useState<Schemas["SourceSecret"] | null>(null);
  const create = useAction((_: null) => post<Schemas["SourceSecret"]>("/v1/sources/webhook", { project }), ["sources"], setMade);
  return (
    <Dialog open onClose={onClose} title={made ? "The webhook is ready" : "Create the webhook"}>
      {made ? (
        <>
          <p>Send signed documents to this address:</p>
          <p className="secret">
            <code>{location.origin + made.path}</code>
            <Copy text={location.origin + made.path} label="Copy the address" />
          </p>
          <p>Its secret is shown only now:</p>
          <p className="secret">
            <code>{made.secret ?? made.secret_note}</code>
            <Copy text={made.secret ?? ""} label="Copy the secret" />
          </p>
          <footer>
            <button type="button" className="primary" onClick={onClose}>
              I have stored it
            </button>
          </footer>
        </>
      ) : (
        <>
          <p>Another system sends documents as signed requests. There is one webhook for each tenant.</p>
          <ErrorBox error={create.error} />
          <footer>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="button" className="primary" disabled={create.isPending} onClick={() => create.mutate(null)}>
              Create the webhook
            </button>
          </footer>
        </>
      )}
    </Dialog>
  );
}
