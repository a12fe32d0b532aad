/** One source. */

import { Page } from "../../ui/page";

export default function SourcePage() {
  return (
    <Page title="Source">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
