/** Two attempts of a task side by side. */

import { Page } from "../../ui/page";

export default function ComparePage() {
  return (
    <Page title="Compare attempts">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
