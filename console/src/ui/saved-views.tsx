/** Views the team has saved: a name for a page's query. */

import { useState } from "react";
import { call, post, remove } from "../api/client";
import { useAction, useApi } from "../api/queries";
import type { View } from "../api/operate";
import { useGo, usePath } from "../app/address";
import { useMay } from "../app/session";
import { parseQuery, writeQuery } from "../lib/filters";
import { Confirm } from "./dialog";
import { Icon } from "./icons";
import { Menu } from "./menu";
import { ErrorBox } from "./notices";
import { toast } from "./toast";

/** The query without what belongs to one person at one moment. */
function queryToSave(): string {
  const { sel: _selection, operation: _operation, ...rest } = parseQuery(location.search);
  return writeQuery(rest);
}

export function SavedViews({ page }: { page: string }) {
  const views = useApi<{ items: View[] }>("/v1/views", { query: { page }, live: ["views"] });
  const go = useGo();
  const path = usePath();
  const may = useMay("documents:write");
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState("");
  const save = useAction((given: string) => post("/v1/views", { page, name: given, query: queryToSave() }), ["views"], () => setNaming(false));
  const [dropping, setDropping] = useState<View | null>(null);
  const drop = useAction((view: View) => remove(`/v1/views/${view.view_id}`), ["views"], () => setDropping(null));
  const replace = useAction(
    (view: View) => call("PATCH", `/v1/views/${view.view_id}`, { body: { query: queryToSave() } }),
    ["views"],
    (_, view) => toast(`Saved the current filter as ${view.name}.`),
  );
  const items = views.data?.items ?? [];
  return (
    <>
      <Menu label="Saved views" align="end" button={<><Icon name="star" /> Views{items.length ? ` ${items.length}` : ""}</>}>
        {(close) => (
          <div className="menu-list">
            <ErrorBox error={views.error ?? replace.error} />
            {items.length === 0 && !views.error ? <p className="quiet menu-note">A saved view is a filter with a name, for the whole team.</p> : null}
            {items.map((view) => (
              <div key={view.view_id} className="menu-row">
                <button
                  type="button"
                  className="menu-item"
                  title={`Saved by ${view.created_by}`}
                  onClick={() => {
                    close();
                    go(path + writeQuery(parseQuery(view.query)));
                  }}
                >
                  <bdi>{view.name}</bdi>
                </button>
                {may ? (
                  <>
                    <button type="button" className="icon-button" aria-label={`Save the current filter as ${view.name}`} title="Save the current filter under this name" onClick={() => replace.mutate(view)}>
                      <Icon name="refresh" />
                    </button>
                    <button type="button" className="icon-button" aria-label={`Delete the view ${view.name}`} title="Delete the view" onClick={() => setDropping(view)}>
                      <Icon name="close" />
                    </button>
                  </>
                ) : null}
              </div>
            ))}
            {may ? (
              <button
                type="button"
                className="menu-item"
                onClick={() => {
                  close();
                  setName("");
                  save.reset();
                  setNaming(true);
                }}
              >
                Save this filter …
              </button>
            ) : null}
          </div>
        )}
      </Menu>
      <Confirm
        open={naming}
        onClose={() => setNaming(false)}
        title="Save this filter as a view"
        verb="Save for the team"
        busy={save.isPending}
        disabled={name.trim() === ""}
        error={save.error}
        onConfirm={() => save.mutate(name.trim())}
      >
        <label className="field">
          Name
          <input value={name} maxLength={100} autoFocus onChange={(event) => setName(event.target.value)} />
        </label>
      </Confirm>
      <Confirm open={dropping !== null} onClose={() => setDropping(null)} title="Delete 1 view?" verb="Delete 1 view" danger busy={drop.isPending} error={drop.error} onConfirm={() => dropping && drop.mutate(dropping)}>
        <p>
          <bdi>{dropping?.name}</bdi> is deleted for the whole team.
        </p>
      </Confirm>
    </>
  );
}
