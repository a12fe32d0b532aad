/** One client. */

import { Page } from "../../ui/page";

export default function ClientPage() {
  return (
    <Page title="Client">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
