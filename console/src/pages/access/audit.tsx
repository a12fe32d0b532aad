/** Who did what. */

import { Page } from "../../ui/page";

export default function AuditPage() {
  return (
    <Page title="Audit">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
