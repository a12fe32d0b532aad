/** One cause of failures. */

import { Page } from "../../ui/page";

export default function FailurePage() {
  return (
    <Page title="Failure">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
