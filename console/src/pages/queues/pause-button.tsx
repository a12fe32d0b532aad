/** Pauses a queue after a question, resumes it at once. */

import { useState } from "react";
import { post } from "../../api/client";
import { useAction } from "../../api/queries";
import type { QueueRow } from "../../api/operate";
import { plural } from "../../lib/numbers";
import { Confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";

export function PauseButton({ queue }: { queue: QueueRow }) {
  const [asked, setAsked] = useState(false);
  const path = `/v1/queues/${encodeURIComponent(queue.queue)}`;
  const act = useAction(
    (verb: "pause" | "resume") => post(`${path}/${verb}`),
    ["queues"],
    (_, verb) => {
      setAsked(false);
      toast(`Queue ${queue.queue} is ${verb === "pause" ? "paused" : "running again"}.`);
    },
  );
  if (queue.paused)
    return (
      <>
        <button type="button" disabled={act.isPending} onClick={() => act.mutate("resume")}>
          <Icon name="play" /> Resume
        </button>
        {act.error ? <p className="tone-text-bad" role="alert">{act.error.message}</p> : null}
      </>
    );
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        <Icon name="paused" /> Pause
      </button>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title={`Pause the queue ${queue.queue}?`}
        verb={`Pause ${queue.queue}`}
        busy={act.isPending}
        error={act.error}
        onConfirm={() => act.mutate("pause")}
      >
        <p>
          Workers stop taking tasks from it; {plural(queue.running, "running task")} will finish. {plural(queue.ready, "ready task")} will wait until
          it is resumed.
        </p>
      </Confirm>
    </>
  );
}
