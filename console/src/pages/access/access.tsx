/** Who may do what. */

import { Page } from "../../ui/page";

export default function AccessPage() {
  return (
    <Page title="Access">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
