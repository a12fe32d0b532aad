/** One process. */

import { Page } from "../../ui/page";

export default function ProcessPage() {
  return (
    <Page title="Process">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
