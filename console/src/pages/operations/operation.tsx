/** One bulk operation. */

import { Page } from "../../ui/page";

export default function OperationPage() {
  return (
    <Page title="Operation">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
