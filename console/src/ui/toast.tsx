/** Short messages about what was done. Errors do not go here: they stay on the page. */

import { useSyncExternalStore, type ReactNode } from "react";
import { Icon } from "./icons";

interface Message {
  readonly id: number;
  readonly text: ReactNode;
}

let messages: readonly Message[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(changed: readonly Message[]): void {
  messages = changed;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => set(messages.filter((message) => message.id !== id));

/** `toast("Queue default is paused.")` */
export function toast(text: ReactNode, seconds = 6): void {
  const id = next++;
  set([...messages.slice(-3), { id, text }]);
  setTimeout(() => dismiss(id), seconds * 1000);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((message) => (
        <div className="toast" key={message.id}>
          <span>{message.text}</span>
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(message.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
