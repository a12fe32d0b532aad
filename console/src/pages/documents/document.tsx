/** One document. */

import { Page } from "../../ui/page";

export default function DocumentPage() {
  return (
    <Page title="Document">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
