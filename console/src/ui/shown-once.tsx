/** A secret that the server shows only once, with a button to copy it. */

import type { ReactNode } from "react";
import { Dialog } from "./dialog";
import { Copy } from "./values";

export function ShownOnce({
  of: made,
  title,
  children,
  onClose,
}: {
  of: { readonly secret?: string | null; readonly secret_note?: string | null };
  title: string;
  /** What stands above the secret. */
  children: ReactNode;
  onClose: () => void;
}) {
  return (
    <Dialog open onClose={onClose} title={title}>
      {children}
      <Copied text={made.secret ?? made.secret_note ?? ""} label="Copy the secret" />
      <footer>
        <button type="button" className="primary" onClick={onClose}>
          I have stored it
        </button>
      </footer>
    </Dialog>
  );
}

export function Copied({ text, label }: { text: string; label: string }) {
  return (
    <p className="secret">
      <code>{text}</code>
      <Copy text={text} label={label} />
    </p>
  );
}
