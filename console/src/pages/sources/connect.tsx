/** Connect a source. */

import { Page } from "../../ui/page";

export default function ConnectPage() {
  return (
    <Page title="Connect a source">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
