/** A menu below its button, by the browser's own popover. */

import { useId, useRef, type ReactNode } from "react";

export function Menu({ button, label, children, align = "start" }: { button: ReactNode; label: string; children: (close: () => void) => ReactNode; align?: "start" | "end" }) {
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const place = () => {
    const from = trigger.current?.getBoundingClientRect();
    const box = menu.current;
    if (!from || !box) return;
    const width = box.offsetWidth;
    const left = align === "end" ? from.right - width : from.left;
    box.style.top = `${Math.min(from.bottom + 4, Math.max(8, innerHeight - box.offsetHeight - 8))}px`;
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  };
  return (
    <>
      <button ref={trigger} type="button" popoverTarget={id} aria-label={label} title={label} aria-haspopup="true">
        {button}
      </button>
      <div ref={menu} id={id} popover="auto" className="menu" onToggle={(event) => event.newState === "open" && place()}>
        {children(() => menu.current?.hidePopover())}
      </div>
    </>
  );
}
