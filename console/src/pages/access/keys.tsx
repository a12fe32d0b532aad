/** API keys of a tenant: create one, whose secret is shown once, revoke one. And those of the installation: revoke one. */

import { useMemo, useState, type ReactNode } from "react";
import { post, remove, type Schemas } from "../../api/client";
import { useAction, useRows } from "../../api/queries";
import { useSession, useTenant } from "../../app/session";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { Confirm } from "../../ui/dialog";
import { EmptyState } from "../../ui/notices";
import { ShownOnce } from "../../ui/shown-once";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { CommandHint, Name, Time } from "../../ui/values";
import { VirtualTable, type Column } from "../../ui/virtual-table";
import { expiryIn, keyState, SCOPES } from "./scopes";
import { AccessPage } from "./tabs";

type Key = Schemas["ApiKey"];
type InstallationKey = Schemas["InstallationKey"];
type Made = Schemas["KeyMade"];

export default function Keys() {
  const [making, setMaking] = useState(false);
  const session = useSession();
  const [tenant] = useTenant();
  if (session?.is_installation && tenant === null) return <InstallationKeys />;
  return (
    <AccessPage
      title="Keys"
      lead="A key lets a program act for one tenant, within its scopes."
      actions={
        <button type="button" className="primary" onClick={() => setMaking(true)}>
          Create a key
        </button>
      }
    >
      <KeyTable />
      {making ? <NewKey onClose={() => setMaking(false)} /> : null}
    </AccessPage>
  );
}

const FIELDS: readonly Field[] = [
  { name: "state", label: "state", options: ["active", "expired", "revoked"] },
  { name: "q", label: "name", text: true },
];

const ACTIONS: readonly BulkAction[] = [
  { action: "keys.revoke", verb: "Revoke", noun: "key", danger: true, about: "Programs that use them are rejected from then on. This cannot be undone." },
];

/** The columns and the dialog that keys of a tenant and of the installation share; `rights` says what a key may do. */
function useKeys<K extends Omit<Key, "scopes">>(path: string, rights: Column<K>): [readonly Column<K>[], ReactNode] {
  const [asked, setAsked] = useState<K | null>(null);
  const revoke = useAction((key: K) => remove(`${path}/${key.key_id}`), ["keys"], () => {
    setAsked(null);
    toast("The key was revoked and no longer works.");
  });
  const columns = useMemo(
    (): readonly Column<K>[] => [
      { key: "name", label: "Name", width: "minmax(10rem, 2fr)", sort: (key) => key.name, render: (key) => <Name>{key.name}</Name> },
      { key: "state", label: "State", width: "6.5rem", sort: (key) => keyState(key, new Date()), render: (key) => <StateBadge state={keyState(key, new Date())} /> },
      { key: "prefix", label: "Begins with", width: "8rem", render: (key) => <code>{key.prefix}…</code> },
      rights,
      { key: "created", label: "Created", width: "6.5rem", right: true, sort: (key) => key.created_at, render: (key) => <Time at={key.created_at} /> },
      { key: "used", label: "Last used", width: "6.5rem", right: true, sort: (key) => key.used_at, render: (key) => (key.used_at ? <Time at={key.used_at} /> : <span className="zero">never</span>) },
      { key: "expires", label: "Expires", width: "6.5rem", right: true, sort: (key) => key.expires_at, render: (key) => (key.expires_at ? <Time at={key.expires_at} /> : <span className="zero">never</span>) },
      {
        key: "act",
        label: "",
        width: "7.5rem",
        right: true,
        render: (key) =>
          keyState(key, new Date()) === "active" ? (
            <button type="button" className="danger" aria-label={`Revoke ${key.name}`} onClick={() => setAsked(key)}>
              Revoke …
            </button>
          ) : null,
      },
    ],
    [],
  );
  return [
    columns,
    <Confirm
      open={asked !== null}
      onClose={() => setAsked(null)}
      title="Revoke 1 key?"
      verb="Revoke 1 key"
      danger
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => asked && revoke.mutate(asked)}
    >
      <p>
        Programs that use <bdi>{asked?.name}</bdi> are rejected from then on. This cannot be undone.
      </p>
    </Confirm>,
  ];
}

function InstallationKeys() {
  return (
    <AccessPage title="Keys" lead="A key of the installation lets a program act for all tenants, within its role. For the keys of one tenant, choose it at the top.">
      <InstallationKeyTable />
    </AccessPage>
  );
}

/** Only the command creates such keys, where the operator's login is. */
function InstallationKeyTable() {
  const list = useRows<InstallationKey>("/v1/installation/keys", (key) => key.key_id, { live: ["keys"] });
  const [columns, dialog] = useKeys<InstallationKey>("/v1/installation/keys", ROLE);
  return (
    <>
      <VirtualTable label="Keys of the installation" list={list} columns={columns} rowKey={(key) => key.key_id} empty={<EmptyState title="No keys of the installation" />} />
      <p className="quiet">
        The command line creates them: <CommandHint command="penstock key create --role operator --name deploy" />
      </p>
      {dialog}
    </>
  );
}

const ROLE: Column<InstallationKey> = { key: "role", label: "Role", width: "6rem", sort: (key) => key.role, render: (key) => key.role };
const RIGHTS: Column<Key> = { key: "scopes", label: "Scopes", width: "minmax(9rem, 2fr)", wrap: true, render: (key) => key.scopes.join(", ") };

function KeyTable() {
  const [tenant] = useTenant();
  const [columns, dialog] = useKeys<Key>("/v1/keys", RIGHTS);
  return (
    <>
      <ActingList
        label="Keys"
        path="/v1/keys"
        options={{ live: ["keys"] }}
        fields={FIELDS}
        page="keys"
        placeholder="Filter by name or state:"
        columns={columns}
        rowKey={(key) => key.key_id}
        actions={ACTIONS}
        empty={
          <EmptyState title="No keys" command={`penstock tenant key create ${tenant ?? "SLUG"} --name ci`}>
            <p>Create one for each program, with as few scopes as it needs.</p>
          </EmptyState>
        }
      />
      {dialog}
    </>
  );
}

const LIVES = [
  [null, "never"],
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
] as const;

function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(["documents:read", "search"]));
  const [days, setDays] = useState<number | null>(90);
  const [made, setMade] = useState<Made | null>(null);
  const create = useAction(
    (_: null) => post<Made>("/v1/keys", { name: name.trim(), scopes: [...scopes], expires_at: expiryIn(days, new Date()) }),
    ["keys"],
    setMade,
  );
  if (made)
    return (
      <ShownOnce of={made} title="Copy the key: it is shown only once" onClose={onClose}>
        <p>
          Copy the secret of <bdi>{made.name}</bdi> and store it where your program reads it. Nobody can show it again.
        </p>
      </ShownOnce>
    );
  return (
    <Confirm
      open
      onClose={onClose}
      title="Create a key"
      verb="Create the key"
      busy={create.isPending}
      disabled={name.trim() === "" || scopes.size === 0}
      error={create.error}
      onConfirm={() => create.mutate(null)}
    >
      <label className="field">
        Name
        <input required autoFocus maxLength={200} placeholder="What uses it" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <fieldset className="choices">
        <legend>Scopes</legend>
        {SCOPES.map(([scope, about]) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.has(scope)}
              onChange={(event) => {
                const next = new Set(scopes);
                if (event.target.checked) next.add(scope);
                else next.delete(scope);
                setScopes(next);
              }}
            />{" "}
            {about} <code className="quiet">{scope}</code>
          </label>
        ))}
      </fieldset>
      <label className="field">
        It expires
        <select value={days ?? ""} onChange={(event) => setDays(event.target.value === "" ? null : Number(event.target.value))}>
          {LIVES.map(([value, text]) => (
            <option key={text} value={value ?? ""}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </Confirm>
  );
}
