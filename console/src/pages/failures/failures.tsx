/** Failures by cause. */

import { Page } from "../../ui/page";

export default function FailuresPage() {
  return (
    <Page title="Failures">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
