/** Who is signed in to the console; an admin can end a session. */

import { useState } from "react";
import { remove } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import { Confirm } from "../../ui/dialog";
import { Answer, EmptyState } from "../../ui/notices";
import { Table } from "../../ui/page";
import { toast } from "../../ui/toast";
import { CommandHint, Name, Time } from "../../ui/values";
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
    <AccessPage title="Sessions" lead="Who is signed in to this console. A session ends by itself when it is not used.">
      <SessionTable />
    </AccessPage>
  );
}

function SessionTable() {
  const found = useApi<{ items: ConsoleSession[] }>("/v1/sessions", { live: ["sessions"], everySeconds: 60 });
  const [asked, setAsked] = useState<ConsoleSession | null>(null);
  const end = useAction((session: ConsoleSession) => remove(`/v1/sessions/${session.session_id}`), ["sessions"], () => {
    setAsked(null);
    toast("The session was ended.");
  });
  return (
    <>
      <Answer of={found}>
        {(answer) =>
          answer.items.length === 0 ? (
            <EmptyState title="Nobody is signed in with a session" command="penstock login">
              <p>A link from the command line signs a person in once:</p>
            </EmptyState>
          ) : (
            <div className="section">
            <Table label="Sessions" head={["Who", "Role", "Where", { text: "Signed in", right: true }, { text: "Last seen", right: true }, { text: "Ends", right: true }, ""]}>
              {answer.items.map((session) => (
                <tr key={session.session_id}>
                  <td>
                    <Name>{session.name}</Name>
                    <div className="quiet small">{session.key_id ? "with a key" : "with a link"}</div>
                  </td>
                  <td>{session.role}</td>
                  <td>{session.is_installation ? "the installation" : <Name>{session.tenant ?? ""}</Name>}</td>
                  <td className="right">
                    <Time at={session.created_at} />
                  </td>
                  <td className="right">
                    <Time at={session.seen_at} />
                  </td>
                  <td className="right">
                    <Time at={session.expires_at} />
                  </td>
                  <td className="right">
                    <button type="button" className="danger" aria-label={`End the session of ${session.name}`} onClick={() => setAsked(session)}>
                      End …
                    </button>
                  </td>
                </tr>
              ))}
            </Table>
            </div>
          )
        }
      </Answer>
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
