/** Every document. */

import { Page } from "../../ui/page";

export default function DocumentsPage() {
  return (
    <Page title="Documents">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
