/** Bulk operations. */

import { Page } from "../../ui/page";

export default function OperationsPage() {
  return (
    <Page title="Operations">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
