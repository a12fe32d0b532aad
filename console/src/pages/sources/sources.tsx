/** Every source. */

import { Page } from "../../ui/page";

export default function SourcesPage() {
  return (
    <Page title="Sources">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
