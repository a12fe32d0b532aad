/** Console sessions. */

import { Page } from "../../ui/page";

export default function SessionsPage() {
  return (
    <Page title="Sessions">
      <p className="quiet">This page is being built.</p>
    </Page>
  );
}
