/** Enqueues a task of a declared type, by a form made from its schema. */

import { useState } from "react";
import { post } from "../../api/client";
import { useAction, useApi } from "../../api/queries";
import type { TaskType } from "../../api/operate";
import { A } from "../../app/address";
import { Confirm } from "../../ui/dialog";
import { toast } from "../../ui/toast";
import { fieldsOf, payloadOf, SchemaForm, type Draft } from "./schema-form";

export function EnqueueDialog({ queue, onClose }: { queue?: string; onClose: () => void }) {
  const types = useApi<{ items: TaskType[] }>("/v1/task-types");
  const items = (types.data?.items ?? []).filter((type) => !queue || type.queue === queue);
  const [chosen, setChosen] = useState("");
  const [draft, setDraft] = useState<Draft>({});
  const [json, setJson] = useState("{}");
  const type = items.find((each) => each.task_type === (chosen || items[0]?.task_type));
  const fields = fieldsOf(type?.schema ?? null);
  const send = useAction(
    async () => {
      const payload: unknown = fields ? payloadOf(fields, draft) : JSON.parse(json);
      return post<{ task_id: number }>("/v1/tasks", { task_type: type?.task_type, payload, ...(queue ? { queue } : {}) });
    },
    ["tasks", "queues"],
    ({ task_id }) => {
      toast(
        <>
          Task <A to={`/tasks/${task_id}`}>{task_id}</A> is in the queue.
        </>,
      );
      onClose();
    },
  );
  return (
    <Confirm
      open
      onClose={onClose}
      title={queue ? `Enqueue into ${queue}` : "Enqueue a task"}
      verb="Enqueue 1 task"
      busy={send.isPending}
      disabled={!type}
      error={send.error ?? types.error}
      onConfirm={() => send.mutate()}
    >
      {types.data && items.length === 0 ? <p>No task type is declared for this queue. A worker declares its types when it starts.</p> : null}
      {items.length > 0 ? (
        <label className="field">
          Task type
          <select
            value={type?.task_type ?? ""}
            onChange={(event) => {
              setChosen(event.target.value);
              setDraft({});
            }}
          >
            {items.map((each) => (
              <option key={each.task_type} value={each.task_type}>
                {each.task_type}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {type && fields ? <SchemaForm fields={fields} draft={draft} onChange={setDraft} /> : null}
      {type && !fields ? (
        <label className="field">
          Payload
          <textarea value={json} spellCheck={false} onChange={(event) => setJson(event.target.value)} />
          <span className="quiet small">
            JSON{type.required_keys.length ? `, with ${type.required_keys.join(", ")}` : ""}. No worker has stated its schema.
          </span>
        </label>
      ) : null}
    </Confirm>
  );
}
