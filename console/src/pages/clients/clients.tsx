/** Every client. */

import { Page } from "../../ui/page";

export default function ClientsPage() {
  return (
    <Page title="Clients">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
