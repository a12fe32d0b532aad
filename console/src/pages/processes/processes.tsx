/** Every process. */

import { Page } from "../../ui/page";

export default function ProcessesPage() {
  return (
    <Page title="Processes">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
