/** Tenants. */

import { Page } from "../../ui/page";

export default function TenantsPage() {
  return (
    <Page title="Tenants">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
