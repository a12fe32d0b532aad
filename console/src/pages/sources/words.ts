/** Names of kinds and states of sources, as people say them. */

const KINDS: Readonly<Record<string, string>> = {
  hubspot: "HubSpot",
  google_drive: "Google Drive",
  quickbooks: "QuickBooks",
  gmail: "Gmail",
  outlook: "Outlook",
  imap: "Mailbox (IMAP)",
  folder: "Folder",
  s3: "S3",
  webhook: "Webhook",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind.replaceAll("_", " ");
}

/** A state of a source's health as a state of the console, with its word. */
export function healthState(state: string): { state: string; word?: string } {
  switch (state) {
    case "needs_you":
      return { state: "needs_reconnect", word: "needs you" };
    case "degraded":
      return { state: "needs_attention", word: "without push" };
    case "receiving":
      return { state: "active", word: "receiving" };
    default:
      return { state };
  }
}
