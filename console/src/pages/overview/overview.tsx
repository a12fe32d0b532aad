/** The path of a document, and whether all is well. */

import { Page } from "../../ui/page";

export default function OverviewPage() {
  return (
    <Page title="Overview">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
