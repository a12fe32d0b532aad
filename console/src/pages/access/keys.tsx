/** API keys. */

import { Page } from "../../ui/page";

export default function KeysPage() {
  return (
    <Page title="API keys">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
