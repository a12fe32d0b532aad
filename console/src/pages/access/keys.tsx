/** API keys: create one, whose secret is shown once; revoke one. */

import { useState } from "react";
import { post, remove, type Reply, type Schemas } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { useSession } from "../../app/session";
import { Confirm, Dialog } from "../../ui/dialog";
import { Answer, EmptyState, ErrorBox } from "../../ui/notices";
import { Table } from "../../ui/page";
import { StateBadge } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Copy, Name, Time, useNow } from "../../ui/values";
import { expiryIn, keyState, SCOPES } from "./scopes";
import { AccessPage } from "./tabs";

type Key = Schemas["ApiKey"];
type Made = Schemas["KeyMade"];

export default function Keys() {
  const [making, setMaking] = useState(false);
  return (
    <AccessPage
      title="Keys"
      lead="Programs sign in with a key of one tenant, and can do what its scopes allow."
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

function KeyTable() {
  const found = useApi<Reply<"/v1/keys">>("/v1/keys", { live: ["keys"] });
  const session = useSession();
  const now = useNow();
  const [asked, setAsked] = useState<Key | null>(null);
  const revoke = useAction((key: Key) => remove(`/v1/keys/${key.key_id}`), ["keys"], () => {
    setAsked(null);
    toast("The key was revoked and no longer works.");
  });
  return (
    <Answer of={found}>
      {(answer) =>
        answer.items.length === 0 ? (
          <EmptyState title="No keys" command={`penstock tenant key ${session?.tenant?.slug ?? "SLUG"} --name ci`}>
            <p>Create one for each program, with as few scopes as it needs.</p>
          </EmptyState>
        ) : (
          <>
            <div className="section">
            <Table label="Keys" head={["Name", "State", "Begins with", "May", { text: "Last used", right: true }, { text: "Expires", right: true }, ""]}>
              {answer.items.map((key) => {
                const state = keyState(key, now);
                return (
                  <tr key={key.key_id} className={state === "active" ? "" : "off"}>
                    <td>
                      <Name>{key.name}</Name>
                      <div className="quiet small">
                        created <Time at={key.created_at} />
                      </div>
                    </td>
                    <td>
                      <StateBadge state={state} />
                    </td>
                    <td>
                      <code>{key.prefix}…</code>
                    </td>
                    <td>{key.scopes.join(", ")}</td>
                    <td className="right">{key.used_at ? <Time at={key.used_at} /> : <span className="zero">never</span>}</td>
                    <td className="right">{key.expires_at ? <Time at={key.expires_at} /> : <span className="zero">never</span>}</td>
                    <td className="right">
                      {state === "active" ? (
                        <button type="button" className="danger" aria-label={`Revoke ${key.name}`} onClick={() => setAsked(key)}>
                          Revoke …
                        </button>
                      ) : null}
                    </td>
                  </tr>
                );
              })}
            </Table>
            </div>
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
                Programs that use <bdi>{asked?.name}</bdi> are refused from now on. This cannot be undone.
              </p>
            </Confirm>
          </>
        )
      }
    </Answer>
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
      <Dialog open onClose={onClose} title="The key is shown only now">
        <p>
          Copy the secret of <bdi>{made.name}</bdi> and store it where your program reads it. Nobody can show it again.
        </p>
        <p className="secret">
          <code>{made.secret ?? made.secret_note}</code>
          <Copy text={made.secret ?? ""} label="Copy the secret" />
        </p>
        <footer>
          <button type="button" className="primary" onClick={onClose}>
            I have stored it
          </button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog open onClose={onClose} title="Create a key">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(null);
        }}
      >
        <label className="field">
          Name
          <input required autoFocus maxLength={200} placeholder="What uses it" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <fieldset className="choices">
          <legend>It may</legend>
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
        <ErrorBox error={create.error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={create.isPending || name.trim() === "" || scopes.size === 0}>
            {create.isPending ? "Working …" : "Create the key"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
