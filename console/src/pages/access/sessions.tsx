/** Who is signed in to the console; an admin can end a session. */

import { useMemo, useState } from "react";
import { remove } from "../../api/client";
import { useAction } from "../../api/queries";
import type { Field } from "../../lib/filters";
import { ActingList } from "../../ui/acting-list";
import type { BulkAction } from "../../ui/bulk-bar";
import { Confirm } from "../../ui/dialog";
import { EmptyState } from "../../ui/notices";
import { toast } from "../../ui/toast";
import { CommandHint, Name, Time } from "../../ui/values";
import type { Column } from "../../ui/virtual-table";
import { AccessPage } from "./tabs";

interface ConsoleSession {
  readonly session_id: string;
  readonly name: string;
  readonly role: string;
  readonly tenant: string | null;
  readonly is_installation: boolean;
  readonly key_id: string | null;
  readonly created_at: string;
  readonly seen_at: string;
  readonly expires_at: string;
}

export default function Sessions() {
  return (
    <AccessPage title="Sessions" lead="Who is signed in to this console. A session that is not used expires.">
      <SessionTable />
    </AccessPage>
  );
}

const FIELDS: readonly Field[] = [{ name: "q", label: "name", text: true }];

const ACTIONS: readonly BulkAction[] = [{ action: "sessions.end", verb: "End", noun: "session", danger: true, about: "Everyone selected except you is signed out at once." }];

const COLUMNS: readonly Column<ConsoleSession>[] = [
  {
    key: "who",
    label: "Who",
    width: "minmax(10rem, 2fr)",
    sort: (session) => session.name,
    render: (session) => (
      <>
        <Name>{session.name}</Name> <span className="quiet small">{session.key_id ? "with a key" : "with a link"}</span>
      </>
    ),
  },
  { key: "role", label: "Role", width: "6rem", sort: (session) => session.role, render: (session) => session.role },
  { key: "where", label: "Where", width: "minmax(7rem, 1fr)", sort: (session) => session.tenant, render: (session) => (session.is_installation ? "the installation" : <Name>{session.tenant ?? ""}</Name>) },
  { key: "in", label: "Signed in", width: "6.5rem", right: true, sort: (session) => session.created_at, render: (session) => <Time at={session.created_at} /> },
  { key: "seen", label: "Last seen", width: "6.5rem", right: true, sort: (session) => session.seen_at, render: (session) => <Time at={session.seen_at} /> },
  { key: "ends", label: "Ends", width: "6.5rem", right: true, sort: (session) => session.expires_at, render: (session) => <Time at={session.expires_at} /> },
];

function SessionTable() {
  const [asked, setAsked] = useState<ConsoleSession | null>(null);
  const end = useAction((session: ConsoleSession) => remove(`/v1/sessions/${session.session_id}`), ["sessions"], () => {
    setAsked(null);
    toast("The session was ended.");
  });
  const columns = useMemo(
    (): readonly Column<ConsoleSession>[] => [
      ...COLUMNS,
      {
        key: "act",
        label: "",
        width: "6rem",
        right: true,
        render: (session) => (
          <button type="button" className="danger" aria-label={`End the session of ${session.name}`} onClick={() => setAsked(session)}>
            End …
          </button>
        ),
      },
    ],
    [],
  );
  return (
    <>
      <ActingList
        label="Sessions"
        path="/v1/sessions"
        options={{ live: ["sessions"] }}
        fields={FIELDS}
        page="sessions"
        placeholder="Filter by name"
        columns={columns}
        rowKey={(session) => session.session_id}
        actions={ACTIONS}
        empty={
          <EmptyState title="Nobody is signed in here" command="penstock login">
            <p>A link from the command line signs a person in once:</p>
          </EmptyState>
        }
      />
      <p className="quiet">
        Invite somebody with a link that works once: <CommandHint command="penstock login --print --role viewer" />
      </p>
      <Confirm
        open={asked !== null}
        onClose={() => setAsked(null)}
        title="End 1 session?"
        verb="End 1 session"
        danger
        busy={end.isPending}
        error={end.error}
        onConfirm={() => asked && end.mutate(asked)}
      >
        <p>
          <bdi>{asked?.name}</bdi> is signed out at once.
        </p>
      </Confirm>
    </>
  );
}
