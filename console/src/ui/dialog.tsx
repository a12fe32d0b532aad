/** Native dialogs, and the one that asks before something is done. */

import { useEffect, useId, useRef, type ReactNode } from "react";
import { ErrorBox } from "./notices";
import { Icon } from "./icons";

export function Dialog({
  open,
  onClose,
  title,
  children,
  wide = false,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    if (open && element && !element.open) element.showModal();
    if (!open && element?.open) element.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {open ? (
        <div className="dialog-body">
          <header>
            <h2 id={titleId}>{title}</h2>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
          {children}
        </div>
      ) : null}
    </dialog>
  );
}

/** Asks, says what it will do, and keeps an error on the page. */
export function Confirm({
  open,
  onClose,
  title,
  children,
  verb,
  danger = false,
  busy = false,
  disabled = false,
  error,
  onConfirm,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children?: ReactNode;
  /** What the button says: "Retry 1,204 documents". */
  verb: string;
  danger?: boolean;
  busy?: boolean;
  disabled?: boolean;
  error?: unknown;
  onConfirm: () => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && !disabled) onConfirm();
        }}
      >
        <div className="dialog-content">{children}</div>
        <ErrorBox error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className={danger ? "danger" : "primary"} disabled={busy || disabled}>
            {busy ? "Working …" : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
