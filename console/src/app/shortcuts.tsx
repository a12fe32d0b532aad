/** Keys: single ones ("/"), pairs ("g d"), and the sheet that lists them. */

import { useEffect, useRef } from "react";
import { Dialog } from "../ui/dialog";
import { PLACES } from "./nav";
import { ShortcutStack, type Keys } from "./shortcut-stack";

const stack = new ShortcutStack();
let listening = false;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  const box = target instanceof HTMLInputElement && target.type === "checkbox";
  if ((typing(target) && !box) || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && target instanceof HTMLElement && target.closest("a,button,summary,input")) return;
  const run = stack.pressed(event.key, event.timeStamp);
  if (!run) return;
  event.preventDefault();
  run();
}

/** Keys while the component is shown; the newest component wins. Those of the frame come after those of any page. */
export function useShortcuts(keys: Keys, ofFrame = false): void {
  const held = useRef(keys);
  held.current = keys;
  useEffect(() => {
    if (!listening) {
      listening = true;
      document.addEventListener("keydown", pressed);
    }
    return stack.add(held, ofFrame);
  }, []);
}

const SHEET: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "Go to",
    PLACES.flatMap(([, places]) => places.map((place) => [`g ${place.key}`, place.text] as const)),
  ],
  [
    "In a list",
    [
      ["j  k", "next and previous row"],
      ["Enter", "open the row"],
      ["x", "select the row"],
      ["Esc", "clear the selection"],
    ],
  ],
  [
    "Anywhere",
    [
      ["/", "filter the list, or search"],
      ["r", "refresh"],
      ["p", "pause and resume live updates"],
      ["t", "light, dark, system"],
      ["?", "this list"],
    ],
  ],
];

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard" wide>
      <div className="sheet">
        {SHEET.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, text]) => (
                <div key={key}>
                  <dt>
                    {key.split(" ").filter(Boolean).map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
